import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import {
  webhookManifestFiles,
  webhookManifests,
} from '../../../lib/cli/manifests/webhook-manifests.js';
import { defineResource, s, versionOfResource } from '../../../lib/crd/index.js';
import {
  allowed,
  conversionWebhook,
  mutatingWebhook,
  validatingWebhook,
} from '../../../lib/manager/index.js';
import type { AdmissionWebhookOptions, Webhook } from '../../../lib/manager/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { cli, scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { createWebhook, makeProject, textsIn } from '../scaffold/project.js';

describe('operator-builder manifests with webhooks', () => {
  const file = scratchDirectory();

  it('removes the patch of a removed conversion from config/default, and restores it', async () => {
    await makeProject(file('shops'), ['Shop', 'v1alpha1'], ['Shop', 'v1']);
    await createWebhook(file('shops'), 'Shop', 'v1', '--conversion');
    linkPackages(file('shops'));
    const manifests = () => cli(['manifests', '--project', file('shops')]);
    const before = await textsIn(file('shops/config'));
    expect((await manifests()).stdout).to.equal('The manifests are up to date.\n');

    const operator = await readFile(file('shops/src/operator.ts'), 'utf8');
    const without = operator.replace(/ +conversionWebhook\(Shop\),\n/, '');
    await writeFile(file('shops/src/operator.ts'), without);
    const patch = 'config/default/conversion_in_shop.example.com_shops.yaml';
    const list = 'config/default/kustomization.yaml';
    const { stdout } = await manifests();
    expect(stdout).to.include(`deleted ${patch}\n`).and.include(`changed ${list}\n`);
    expect(stdout).to.match(/note: Shop: .* add conversionWebhook\(Shop\) to webhooks\n/);
    const after = await textsIn(file('shops/config'));
    expect(after).not.to.have.any.keys('default/conversion_in_shop.example.com_shops.yaml');
    expect(after['default/kustomization.yaml']).not.to.include('conversion');

    await writeFile(file('shops/src/operator.ts'), operator);
    expect((await manifests()).stdout).to.include(`created ${patch}\n`);
    expect(await textsIn(file('shops/config'))).to.deep.equal(before);
  });

  it('keeps an empty file without webhooks, because a kustomization lists it', async () => {
    await makeProject(file('none'), ['Shop', 'v1']);
    await createWebhook(file('none'), 'Shop', 'v1', '--validation');
    linkPackages(file('none'));
    const operator = await readFile(file('none/src/operator.ts'), 'utf8');
    await writeFile(file('none/src/operator.ts'), operator.replaceAll(/.*shopV1Webhooks.*\n/g, ''));
    const { stdout } = await cli(['manifests', '--project', file('none')]);
    expect(stdout).to.include('changed config/webhook/manifests.yaml\n');
    expect(await readFile(file('none/config/webhook/manifests.yaml'), 'utf8')).to.match(/^#.*\n$/);
  });

  it('reports webhook manifests that no kustomization lists', async () => {
    const webhooks = [validatingWebhook(ConfigMap, () => allowed(), { name: 'a.shop.example' })];
    const filesOf = (keep: boolean) =>
      webhookManifestFiles(file('bare'), { name: 'shops', webhooks }, { keep });
    const { wanted, notes } = await filesOf(false);
    expect(wanted.map(({ path }) => path)).to.deep.equal(['config/webhook/manifests.yaml']);
    expect(notes.join()).to.include('config/webhook/manifests.yaml is in no kustomization');
    expect((await filesOf(true)).notes).to.deep.equal([]);
  });

  it('writes the options of a webhook', () => {
    const options = {
      matchPolicy: 'Exact',
      matchConditions: [{ name: 'small', expression: 'size(object.data) < 9' }],
      objectSelector: { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      namespaceSelector: { matchLabels: { shop: 'yes' } },
      failurePolicy: 'Ignore',
      timeoutSeconds: 3,
      sideEffects: 'NoneOnDryRun',
    } as const;
    const reinvocationPolicy = 'IfNeeded';
    const webhooks = [
      validatingWebhook(ConfigMap, () => allowed(), { ...options, name: 'v.shop.example' }),
      mutatingWebhook(ConfigMap, () => allowed(), {
        ...{ ...options, reinvocationPolicy, name: 'm.shop.example' },
      }),
    ];
    const [mutating, validating] = webhookManifests({ webhooks });
    expect(mutating?.webhooks[0]).to.deep.include({ ...options, reinvocationPolicy });
    expect(validating?.webhooks[0]).to.deep.include(options);
    expect(validating?.webhooks[0]).not.to.have.property('reinvocationPolicy');
  });

  it('sets the match policy Exact if each version has an equivalent webhook', () => {
    const Shop = defineResource({
      ...{ group: 'shop.example', kind: 'Shop' },
      versions: [
        { name: 'v1', schema: s.object({ spec: s.object({}) }) },
        { name: 'v2', storage: true, schema: s.object({ spec: s.object({}) }) },
      ],
    });
    const [v1, v2] = ['v1', 'v2'].map((version) => versionOfResource(Shop, version)) as [
      ResourceType<KubernetesObject>,
      ResourceType<KubernetesObject>,
    ];
    const check = (type: ResourceType<KubernetesObject>, options: AdmissionWebhookOptions = {}) =>
      validatingWebhook(type, () => allowed(), {
        name: `${type.version}.shop.example`,
        ...options,
      });
    const policies = (...webhooks: readonly Webhook[]) =>
      webhookManifests({ webhooks }).flatMap((each) =>
        each.webhooks.map((one) => (one as { matchPolicy?: string }).matchPolicy),
      );
    const conversion = conversionWebhook(Shop);
    expect(policies(check(v1), check(v2), conversion)).to.deep.equal(['Exact', 'Exact']);
    // A webhook for the same version of another kind covers nothing.
    const other = { ...v2, kind: 'Till', plural: 'tills' };
    expect(policies(check(v1), check(other), conversion)).to.deep.equal([undefined, undefined]);
    expect(policies(check(v1), check(Shop))).to.deep.equal(['Exact', 'Exact']);
    expect(policies(check(Shop))).to.deep.equal([undefined]);
    // Deletions of v1 would bypass the webhook of v2.
    const more = check(v2, { operations: ['CREATE', 'UPDATE', 'DELETE'] });
    expect(policies(check(v1), more, conversion)).to.deep.equal(['Exact', undefined]);
    const some = check(v1, { objectSelector: { matchLabels: { checked: 'yes' } } });
    expect(policies(some, check(v2), conversion)).to.deep.equal([undefined, undefined]);
    expect(policies(check(v1, { matchPolicy: 'Equivalent' }), check(v2), conversion)).to.deep.equal(
      ['Equivalent', 'Exact'],
    );
  });

  it('sorts webhooks independent of their order in the operator', () => {
    const named = ['b.shop.example', 'a.shop.example'].map((name) =>
      validatingWebhook(ConfigMap, () => allowed(), { name, path: `/${name}` }),
    );
    const [configuration] = webhookManifests({ webhooks: named });
    expect(
      configuration?.webhooks.map((webhook) => (webhook as { name: string }).name),
    ).to.deep.equal(['a.shop.example', 'b.shop.example']);
    expect(webhookManifests({ webhooks: named.toReversed() })).to.deep.equal([configuration]);
  });
});
