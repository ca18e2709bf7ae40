import { expect } from 'chai';
import { validateObject } from '../../lib/apply/index.js';

function named(
  apiVersion: string,
  kind: string,
  name: string,
): Parameters<typeof validateObject>[0] {
  return { apiVersion, kind, metadata: { name } };
}

describe('validateObject', () => {
  it('accepts the names that each kind allows', () => {
    validateObject(named('v1', 'ConfigMap', 'a.b-c'));
    validateObject(named('v1', 'Service', 'a-b'));
    validateObject(named('rbac.authorization.k8s.io/v1', 'Role', 'system:node:Reader'));
    validateObject(named('example.com/v1', 'Widget', 'a'.repeat(253)));
  });

  const refused: readonly [string, string, string][] = [
    ['v1', 'ConfigMap', 'A'],
    ['v1', 'ConfigMap', ''],
    ['v1', 'ConfigMap', 'a'.repeat(254)],
    ['v1', 'Service', 'a.b'],
    ['v1', 'Service', 'a'.repeat(64)],
    ['rbac.authorization.k8s.io/v1', 'Role', 'a/b'],
    ['rbac.authorization.k8s.io/v1', 'Role', '..'],
  ];
  for (const [apiVersion, kind, name] of refused) {
    it(`rejects a ${kind} named ${JSON.stringify(name.slice(0, 20))} of length ${name.length}`, () => {
      expect(() => validateObject(named(apiVersion, kind, name)))
        .to.throw('metadata.name')
        .with.property('code', 'InvalidObject');
    });
  }

  it('measures the size of data in bytes after base64 decoding, not in characters', () => {
    const mebibyte = 1_048_576;
    const secret = {
      ...named('v1', 'Secret', 'a'),
      data: { a: Buffer.alloc(mebibyte).toString('base64') },
    };
    validateObject(secret);
    const configMap = (text: string): typeof secret => ({
      ...named('v1', 'ConfigMap', 'a'),
      data: { a: text },
    });
    validateObject(configMap('x'.repeat(mebibyte)));
    expect(() => validateObject(configMap('ü'.repeat(mebibyte / 2 + 1)))).to.throw('1048578 bytes');
  });

  it('accepts padded base64 with line breaks; for other text, names the key and does not quote the text', () => {
    const secret = (value: string): object => ({ data: { good: 'YWI=', key: value } });
    const check = (fields: object): void =>
      validateObject({ ...named('v1', 'Secret', 'a'), ...fields });
    for (const value of ['', 'YWI=', 'YW\nI=\r\n', 'YWJ=']) check(secret(value));
    for (const value of ['not base64!', 'YWI', 'YWI==', '_-8=', 'YW I=']) {
      expect(() => check(secret(value)), value)
        .to.throw('data["key"] is not base64; encode it, or give the text in stringData')
        .that.satisfies((error: Error) => !error.message.includes(value));
    }
    const binary = { ...named('v1', 'ConfigMap', 'a'), binaryData: { key: 'ü' } };
    expect(() => validateObject(binary)).to.throw(
      'binaryData["key"] is not base64; encode it, or give the text in data',
    );
  });

  it('rejects data that is not a string and names its key, and accepts null', () => {
    const check = (kind: string, fields: object): void =>
      validateObject({ ...named('v1', kind, 'a'), ...fields });
    const problem = (field: string, type: string): string =>
      `${field}["key"]: want a string, got ${type}; convert it with String(…)`;
    expect(() => check('ConfigMap', { data: { key: 1 } })).to.throw(problem('data', 'number'));
    expect(() => check('ConfigMap', { binaryData: { key: {} } })).to.throw(
      problem('binaryData', 'object'),
    );
    expect(() => check('Secret', { stringData: { a: 'x', key: true } })).to.throw(
      problem('stringData', 'boolean'),
    );
    check('ConfigMap', { data: { key: null } });
  });

  it('rejects generateName and a pod template without containers', () => {
    const generated = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', generateName: 'a-' },
    };
    expect(() => validateObject(generated)).to.throw(
      'set metadata.name instead, so that the next reconcile finds the object',
    );
    const empty = { ...named('apps/v1', 'Deployment', 'a'), spec: { template: { spec: {} } } };
    expect(() => validateObject(empty)).to.throw('no containers');
  });

  it('rejects two entries with the same key in each list that the server merges', () => {
    const pod = (spec: object): Parameters<typeof validateObject>[0] => ({
      ...named('apps/v1', 'Deployment', 'a'),
      spec: { template: { spec: { containers: [{ name: 'web' }], ...spec } } },
    });
    const container = (fields: object): object => ({ containers: [{ name: 'web', ...fields }] });
    const port = (protocol: string): object => ({ containerPort: 80, protocol });
    const cases: readonly [object, string][] = [
      [{ volumes: [{ name: 'a' }, { name: 'a' }] }, 'spec.template.spec.volumes'],
      [{ containers: [{ name: 'a' }, { name: 'a' }] }, 'spec.template.spec.containers'],
      [
        container({ volumeMounts: [{ mountPath: '/a' }, { mountPath: '/a' }] }),
        '[name=web].volumeMounts',
      ],
      [container({ ports: [port('UDP'), port('UDP')] }), 'containerPort=80,protocol=UDP'],
      [
        container({ volumeDevices: [{ devicePath: '/a' }, { devicePath: '/a' }] }),
        '[name=web].volumeDevices has two entries with devicePath=/a',
      ],
      [container({ env: [{ name: 'A' }, { name: 'A' }] }), '[name=web].env has two entries'],
      [{ initContainers: [{ name: 'a' }, { name: 'a' }] }, 'spec.initContainers has two entries'],
      [{ imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }, 'imagePullSecrets has two entries'],
      [
        { hostAliases: [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }] },
        'hostAliases has two entries with ip=10.0.0.1',
      ],
    ];
    for (const [spec, text] of cases) expect(() => validateObject(pod(spec))).to.throw(text);
    validateObject(pod(container({ ports: [port('UDP'), port('TCP')] })));
  });
});
