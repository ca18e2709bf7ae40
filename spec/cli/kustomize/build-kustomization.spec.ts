import { expect } from 'chai';
import { realpath } from 'node:fs/promises';
import { buildKustomization } from '../../../lib/cli/kustomize/build-kustomization.js';
import { objectsText } from '../../../lib/cli/kustomize/objects-text.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { parseObjects } from '../../../lib/cli/kustomize/yaml-documents.js';
import { scratchDirectory } from '../cli.js';
import { folders, writeFolder } from './folders.js';
import type { Folder } from './folders.js';

interface Built {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly roleRef?: unknown;
  readonly subjects?: unknown;
}

// What kubectl makes of the same is compared in spec/cluster/kustomize.spec.ts.
describe('buildKustomization', () => {
  const file = scratchDirectory();
  let count = 0;

  async function build(files: Folder | undefined, at = ''): Promise<readonly Built[]> {
    const folder = file(`folder-${count++}`);
    await writeFolder(folder, files ?? {});
    return (await buildKustomization(`${folder}/${at}`)) as unknown as readonly Built[];
  }

  /** The message of what can't be built; the folder in it is `.`. */
  async function refusal(files: Folder, at = ''): Promise<string> {
    try {
      await build(files, at);
    } catch (error) {
      expect(isOperatorError(error) && error.code).to.equal('InvalidConfig');
      const folder = await realpath(file(`folder-${count - 1}`));
      return (error as Error).message.replaceAll(folder, '.');
    }
    throw new Error('it was built');
  }

  it('lets what is named go along with what is renamed and moved', async () => {
    const objects = await build(folders['all of the names']);
    const binding = objects.find(({ kind }) => kind === 'ClusterRoleBinding');
    expect(binding).to.deep.include({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'my-work-v2' },
      subjects: [{ kind: 'ServiceAccount', name: 'my-runner-v2', namespace: 'there' }],
    });
  });

  it('puts first what others need, and last what refuses others', async () => {
    const kinds = (await build(folders['a base'])).map(({ kind }) => kind);
    expect(kinds.slice(0, 3)).to.deep.equal([
      ...['Namespace', 'CustomResourceDefinition', 'ServiceAccount'],
    ]);
    expect(kinds.at(-1)).to.equal('ValidatingWebhookConfiguration');
  });

  it('builds every folder of the table, and what it builds can be read again', async () => {
    for (const [name, files] of Object.entries(folders)) {
      const objects = await build(files);
      const text = objectsText(objects);
      expect(parseObjects(text, name), name).to.deep.equal(JSON.parse(JSON.stringify(objects)));
    }
  });

  const pod = 'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n';
  const unsupported = (field: string): string =>
    `./kustomization.yaml: ${field} is not supported (this build of kustomizations has no such field: use kubectl kustomize .)`;
  const only = (content: string): Folder => ({ 'kustomization.yaml': content, 'a.yaml': pod });

  const refused: Readonly<Record<string, readonly [files: Folder, message: string]>> = {
    'a field that it does not know': [only('helmCharts: [{}]'), unsupported('helmCharts')],
    'a field of an entry that it does not know': [
      only('patches: [{ path: a.yaml, x: y }]'),
      unsupported('patches: x'),
    ],
    'a generator that adds to what is there': [
      only('configMapGenerator: [{ name: a, behavior: merge }]'),
      unsupported('configMapGenerator: behavior: merge'),
    ],
    'what is elsewhere': [
      only('resources: [https://example.com/a.yaml]'),
      './kustomization.yaml: https://example.com/a.yaml is not on this machine (use kubectl kustomize ., or keep a copy of it)',
    ],
    'what is not there': [
      only('resources: [b.yaml]'),
      "./kustomization.yaml: b.yaml can't be read",
    ],
    'a field of another type': [
      only('resources: a.yaml'),
      './kustomization.yaml: resources: want a list',
    ],
    'an empty kustomization': [
      only('kind: Kustomization'),
      './kustomization.yaml: the kustomization is empty',
    ],
    'an object that is there twice': [
      only('resources: [a.yaml, a.yaml]'),
      './kustomization.yaml: Pod a is there twice',
    ],
    'an object without a name': [
      { ...only('resources: [a.yaml]'), 'a.yaml': 'apiVersion: v1\nkind: Pod\n' },
      './a.yaml: a Pod has no metadata.name',
    ],
    'what is no object': [
      { ...only('resources: [a.yaml]'), 'a.yaml': '- 1' },
      './a.yaml: want objects of Kubernetes',
    ],
    'a kustomization that is a part of itself': [
      only('resources: [../folder]'.replace('../folder', '.')),
      './kustomization.yaml: . would be a part of itself',
    ],
    'a patch for nothing': [
      only(
        'resources: [a.yaml]\npatches: [{ patch: "{ apiVersion: v1, kind: Pod, metadata: { name: b } }" }]',
      ),
      './kustomization.yaml: a patch is for Pod b: there is none',
    ],
    'a JSON patch that does not fit': [
      only(
        `resources: [a.yaml]\npatches: [{ target: { kind: Pod }, patch: '[{ "op": "remove", "path": "/spec" }]' }]`,
      ),
      './kustomization.yaml: a JSON patch does not fit Pod a: ',
    ],
    'an expression that is none': [
      only('resources: [a.yaml]\npatches: [{ target: { name: "(" }, patch: "{ spec: {} }" }]'),
      './kustomization.yaml: the target of a patch: Invalid regular expression',
    ],
    'a target that says what it does not know': [
      only('resources: [a.yaml]\npatches: [{ target: { names: a }, patch: "{ spec: {} }" }]'),
      './kustomization.yaml: the target of a patch: names is none of group, version, kind, name',
    ],
    'replicas of nothing': [
      only('resources: [a.yaml]\nreplicas: [{ name: a, count: 2 }]'),
      './kustomization.yaml: replicas: nothing that has any is called a',
    ],
    'labels that are no texts': [
      only('resources: [a.yaml]\ncommonLabels: { a: 1 }'),
      './kustomization.yaml: commonLabels: want texts (put numbers in quotes)',
    ],
  };
  for (const [what, [files, message]] of Object.entries(refused)) {
    it(`refuses ${what}`, async () => {
      expect((await refusal(files)).slice(0, message.length)).to.equal(message);
    });
  }

  it('refuses files outside of the folder, as kubectl does', async () => {
    const files = { 'in/kustomization.yaml': 'resources: [../a.yaml]', 'a.yaml': pod };
    expect(await refusal(files, 'in')).to.equal(
      "./in/kustomization.yaml: ../a.yaml is outside of the kustomization's folder",
    );
  });
});
