import { expect } from 'chai';
import { ownVerbs, watchVerbs } from '../../../lib/manager/access/required-access.js';
import { roleManifest } from '../../../lib/manager/access/preflight.js';
import type { ManagerOptions } from '../../../lib/manager/manager-options.js';
import { ConfigMap, Deployment, Secret } from '../../../lib/object/kinds.js';
import { controllerFor } from '../../../lib/controller/controller.js';
import { done } from '../../../lib/controller/result.js';
import { allowed, validatingWebhook } from '../../../lib/manager/webhooks/index.js';
import { grant } from '../grant.js';
import { ManagerSetup } from '../manager-setup.js';
import { ownCertificate } from '../webhooks/suite/serving.js';

/** Starts an operator that watches ConfigMaps and Secrets and writes Deployments. */
async function setUp(options: Partial<ManagerOptions> = {}) {
  const setup = await ManagerSetup.start({ rbac: true });
  const manager = setup.manager(options);
  const controller = controllerFor(ConfigMap)
    .owns(Secret)
    .complete(async () => done());
  manager.add(controller, { requires: [{ type: Deployment, verbs: ownVerbs }] });
  return { setup, manager };
}

const all = [
  { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: watchVerbs },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ownVerbs },
];

describe('The RBAC preflight', () => {
  it('fails with the rules to add', async () => {
    const { setup, manager } = await setUp({ rbacPreflight: 'fail' });
    await setup.run(manager);
    const error = await setup.end();
    expect(error).to.have.property('code', 'MissingPermission');
    expect((error as Error).message).to.equal(
      'permissions are missing; add these rules:\n' +
        [
          'apiVersion: rbac.authorization.k8s.io/v1',
          'kind: ClusterRole',
          'metadata:',
          '  name: operator',
          'rules:',
          "- apiGroups: ['']",
          '  resources: [configmaps, secrets]',
          '  verbs: [get, list, watch]',
          '- apiGroups: [apps]',
          '  resources: [deployments]',
          '  verbs: [create, patch, delete]',
          '',
        ].join('\n'),
    );
  });

  it('lists only the missing rules, and passes when all are granted', async () => {
    const { setup, manager } = await setUp({ rbacPreflight: 'fail' });
    await grant(setup.person, all.slice(0, 1));
    await setup.run(manager);
    const error = await setup.end();
    expect((error as Error).message)
      .to.include('deployments')
      .and.not.to.include('configmaps');

    const again = await setUp({ rbacPreflight: 'fail' });
    await grant(again.setup.person, all);
    await again.setup.run(again.manager);
    expect(again.manager.phase).to.equal('running');
    expect(await again.setup.end()).to.equal(undefined);
  });

  it('warns and continues by default, because the permission may be granted later', async () => {
    const { setup, manager } = await setUp();
    await setup.run(manager);
    expect(setup.logged('warn').join('\n')).to.include('resources: [configmaps, secrets]');
    await grant(setup.person, all);
    await setup.clock.advance(60_000);
    expect(manager.phase).to.equal('running');
    expect(await setup.end()).to.equal(undefined);
  });

  it('only warns if the operator lacks permission to record events about quarantined objects, even with rbacPreflight: fail', async () => {
    const { setup, manager } = await setUp({ rbacPreflight: 'fail' });
    await grant(setup.person, all);
    await setup.run(manager);
    expect(manager.phase).to.equal('running');
    const [warning] = setup.logged('warn');
    expect(warning).to.include(
      'apiGroups: [events.k8s.io]\n  resources: [events]\n  verbs: [create, patch]',
    );
    expect(await setup.end()).to.equal(undefined);
  });

  it('sends no access review when it is off', async () => {
    const { setup, manager } = await setUp({ rbacPreflight: 'off' });
    await setup.run(manager);
    const reviews = setup.cluster.requests.entries.filter(({ resource }) =>
      resource.includes('reviews'),
    );
    expect(reviews).to.deep.equal([]);
    await setup.end();
  });

  it('requires rights only in the cached namespaces, and for the Lease in its namespace', async () => {
    const { setup, manager } = await setUp({
      rbacPreflight: 'fail',
      cacheOptions: { namespaces: ['shop'] },
      leaderElection: { name: 'operator', namespace: 'system' },
    });
    await setup.run(manager);
    const { message } = (await setup.end()) as Error;
    expect(message).not.to.include('ClusterRole');
    expect(message).to.include('kind: Role\nmetadata:\n  name: operator\n  namespace: shop');
    expect(message).to.match(
      /namespace: system\nrules:\n.*coordination.k8s.io.*\n.*leases.*\n.*\[create\]/,
    );
    expect(message).to.match(/resourceNames: \[operator\]\n {2}verbs: \[get, update\]/);
  });

  it('requires the rights for a kind only in the namespaces in which that kind is cached', async () => {
    const types = [
      { type: { apiVersion: 'v2', kind: 'Secret' }, namespaces: ['elsewhere'] },
      { type: Secret, namespaces: ['vault'] },
    ];
    const { setup, manager } = await setUp({
      rbacPreflight: 'fail',
      cacheOptions: { namespaces: ['shop'], types },
    });
    await setup.run(manager);
    const { message } = (await setup.end()) as Error;
    const roles = message.split('kind: Role\n').slice(1);
    const rulesIn = (namespace: string): string =>
      roles.find((role) => role.includes(`namespace: ${namespace}\n`)) ?? '';
    expect(rulesIn('vault')).to.include('resources: [secrets]');
    expect(rulesIn('shop')).to.include('resources: [configmaps]').and.not.include('secrets');
    expect(message).not.to.include('elsewhere').and.not.to.include('ClusterRole');
  });

  it('fails for a missing permission in a cluster other than the first', async () => {
    const other = await ManagerSetup.start({ rbac: true });
    const setup = await ManagerSetup.start({ rbac: true });
    await grant(setup.person, all);
    const clusters = [setup, other].map(({ client }, n) => ({ name: `c-${n}`, client }));
    const requires = [{ type: Deployment, verbs: ['create'] }] as const;
    const manager = setup.manager({ clusters, requires, rbacPreflight: 'fail' });
    await setup.run(manager);
    await setup.until(() => manager.phase !== 'running' && manager.phase !== 'starting');
    const error = await setup.end();
    expect(error).to.have.property('code', 'MissingPermission');
    await other.end();
  });

  it('reviews access to single objects by name', async () => {
    const requires = [{ type: Secret, names: ['tls'], namespace: 'a', verbs: ['get'] }] as const;
    const [granted, refused] = [['tls'], ['other']].map((resourceNames) => ({
      ...{ apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames },
    }));
    for (const [rule, code] of [
      [granted, undefined],
      [refused, 'MissingPermission'],
    ] as const) {
      const setup = await ManagerSetup.start({ rbac: true });
      await grant(setup.person, rule === undefined ? [] : [rule]);
      await setup.run(setup.manager({ rbacPreflight: 'fail', requires }));
      const error = (await setup.end()) as { readonly code?: string } | undefined;
      expect(error?.code).to.equal(code);
    }
  });

  it('reviews access to paths of the API server', async () => {
    const requires = [
      { nonResourceURLs: ['/metrics', '/debug/*'], verbs: ['get'] },
      { nonResourceURLs: ['/logs'], verbs: ['get', 'post'] },
    ] as const;
    const options = {
      rbacPreflight: 'fail',
      requires,
      cacheOptions: { namespaces: ['shop'] },
    } as const;
    const setup = await ManagerSetup.start({ rbac: true });
    await grant(setup.person, [{ nonResourceURLs: ['/logs'], verbs: ['get'] }]);
    await setup.run(setup.manager(options));
    const { message } = (await setup.end()) as Error;
    expect(message.split('rules:\n').at(-1)).to.equal(
      "- nonResourceURLs: ['/debug/*', '/metrics']\n  verbs: [get]\n" +
        "- nonResourceURLs: ['/logs']\n  verbs: [post]\n",
    );
    expect(message).to.include('kind: ClusterRole\n');

    const again = await ManagerSetup.start({ rbac: true });
    await grant(again.person, requires);
    await again.run(again.manager(options));
    expect(await again.end()).to.equal(undefined);
  });

  it('reviews the access that the webhook certificate needs', async () => {
    const { source } = await ownCertificate();
    const access = [{ type: Secret, names: ['tls'], namespace: 'a', verbs: ['update'] }] as const;
    const setup = await ManagerSetup.start({ rbac: true });
    const webhooks = [validatingWebhook(ConfigMap, () => allowed())];
    const certificates = { ...source, access };
    const listening = { port: 0, host: '127.0.0.1' };
    const manager = setup.manager({
      ...{ rbacPreflight: 'fail', webhooks: { webhooks, certificates, ...listening } },
    });
    await setup.run(manager);
    // A socket opens in real time.
    while (!['running', 'stopped'].includes(manager.phase)) await setup.clock.advance(0);
    const { message } = (await setup.end()) as Error;
    expect(message).to.include('resourceNames: [tls]\n  verbs: [update]');
  });

  it('continues with a warning if access reviews fail, unless rbacPreflight is fail', async () => {
    const match = { resource: 'selfsubjectaccessreviews' };
    for (const rbacPreflight of ['warn', 'fail'] as const) {
      const { setup, manager } = await setUp({ rbacPreflight });
      setup.cluster.faults.add({ match, effect: { type: 'status', code: 500 } });
      await setup.run(manager);
      const error = await setup.end();
      if (rbacPreflight === 'fail') expect(error).to.have.property('code', 'ApiError');
      else expect(setup.logged('warn')).to.include('permissions could not be reviewed');
    }
  });

  it('requires no rights for kinds that the server does not serve', async () => {
    const setup = await ManagerSetup.start({ rbac: true });
    const type = { apiVersion: 'example.com/v1', kind: 'Widget' };
    const requires = [{ type, verbs: ownVerbs }];
    const manager = setup.manager({ rbacPreflight: 'fail', requires });
    await setup.run(manager);
    expect(await setup.end()).to.equal(undefined);
  });
});

describe('roleManifest', () => {
  it('writes a role for each namespace and a rule for each set of verbs', () => {
    const missing = (resource: string, verb: 'get' | 'list', namespace: string) => ({
      ...{ group: '', resource, verb, namespace },
    });
    const text = roleManifest(
      [
        missing('pods', 'get', 'a'),
        missing('pods/status', 'get', 'a'),
        missing('secrets', 'get', 'a'),
        missing('secrets', 'list', 'a'),
        missing('pods', 'get', ''),
      ],
      'me',
    );
    expect(text.split('---\n').length).to.equal(2);
    expect(text).to.include('resources: [pods, pods/status]\n  verbs: [get]');
    expect(text).to.include('resources: [secrets]\n  verbs: [get, list]');
  });

  it('writes the resource names of a rule', () => {
    const access = { group: '', resource: 'secrets', namespace: 'a' } as const;
    const text = roleManifest(
      [
        { ...access, verb: 'get', name: 'tls' },
        { ...access, verb: 'update', name: 'tls' },
        { ...access, verb: 'create' },
      ],
      'me',
    );
    expect(
      text
        .split('rules:\n')[1]
        ?.split('\n')
        .map((line) => line.trim()),
    ).to.deep.equal([
      ...["- apiGroups: ['']", 'resources: [secrets]', 'verbs: [create]'],
      ...["- apiGroups: ['']", 'resources: [secrets]'],
      ...['resourceNames: [tls]', 'verbs: [get, update]', ''],
    ]);
  });
});
