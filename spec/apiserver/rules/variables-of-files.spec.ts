import { expect } from 'chai';
import { Api } from '../api.js';
import type { Answer } from '../api.js';
import { causeFields, causeMessages } from '../causes.js';

const templates = '/api/v1/namespaces/default/podtemplates';

/** Returns a container with a variable for each reference. */
function container(name: string, ...references: readonly object[]): object {
  const env = references.map((fileKeyRef) => ({ name: 'A', valueFrom: { fileKeyRef } }));
  return { name, image: 'nginx', env };
}

function createTemplate(spec: object): Promise<Answer> {
  const template = { metadata: { labels: { a: 'b' } }, spec };
  return new Api().call('POST', templates, { metadata: { name: 'one' }, template });
}

const file = { volumeName: 'v', path: '/a/..b', key: 'A b.c' };
const volumes = [
  { name: 'v', emptyDir: {} },
  { name: 'm', configMap: { name: 'x' } },
];

describe('environment variables from files', () => {
  it('may come from an emptyDir volume', async () => {
    const { code } = await createTemplate({ containers: [container('c', file)], volumes });
    expect(code).to.equal(201);
  });

  it('require a key, a volume name and a path', async () => {
    const answer = await createTemplate({ containers: [container('c', {})] });
    const field = 'template.spec.containers[0].env[0].valueFrom.fileKeyRef';
    expect(causeFields(answer)).to.deep.equal([
      ...[`${field}.key`, `${field}.volumeName`, `${field}.path`, `${field}.volumeName`],
    ]);
    expect(causeMessages(answer)).to.deep.equal({
      [`${field}.key`]: 'Required value',
      [`${field}.path`]: 'Required value',
      [`${field}.volumeName`]: 'Not found: ""',
    });
  });

  it('require a key that is a valid variable name, and a path without ..', async () => {
    const odd = { ...file, key: 'a=b', path: 'a/../b' };
    const answer = await createTemplate({ containers: [container('c', odd)], volumes });
    const field = 'template.spec.containers[0].env[0].valueFrom.fileKeyRef';
    expect(causeMessages(answer)).to.deep.equal({
      [`${field}.key`]: `Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
      [`${field}.path`]: `Invalid value: "a/../b": must not contain '..'`,
    });
  });

  it('are refused if the volume is missing or not an emptyDir; init containers are reported first', async () => {
    const missing = { ...file, volumeName: 'q' };
    const answer = await createTemplate({
      containers: [container('c', file, missing, { ...file, volumeName: 'm' })],
      initContainers: [container('i', missing)],
      volumes,
    });
    const field = (path: string): string => `template.spec.${path}.valueFrom.fileKeyRef.volumeName`;
    expect(Object.entries(causeMessages(answer))).to.deep.equal([
      [field('initContainers[0].env[0]'), 'Not found: "q"'],
      [field('containers[0].env[1]'), 'Not found: "q"'],
      [
        field('containers[0].env[2]'),
        'Invalid value: "m": referenced volume must be of type emptyDir',
      ],
    ]);
  });
});
