import { expect } from 'chai';
import { DecodeError, Decoding } from '../../../lib/apiserver/go-json/decoding.js';
import { goType } from '../../../lib/apiserver/go-json/go-types.js';

function decode(type: string, value: unknown): unknown {
  return goType(type).decode(value, new Decoding());
}

describe('goType, which reads and writes JSON as a Go type does', () => {
  it('omits or writes empty fields as Go does', () => {
    expect(
      decode('apps/v1.Deployment', { metadata: { labels: {} }, spec: { replicas: 0 } }),
    ).to.deep.equal({
      metadata: {},
      spec: {
        replicas: 0,
        selector: null,
        template: { metadata: {}, spec: { containers: null } },
        strategy: {},
      },
      status: {},
    });
    expect(decode('core/v1.EnvVar', { name: 'A', value: '' })).to.deep.equal({ name: 'A' });
  });

  it('keeps empty lists of a request body, but reads empty lists from the storage as null', () => {
    const read = (fromStorage: boolean): unknown =>
      goType('rbac/v1.ClusterRole').decode({ rules: [] }, new Decoding(fromStorage));
    expect(read(false)).to.deep.equal({ metadata: {}, rules: [] });
    expect(read(true)).to.deep.equal({ metadata: {}, rules: null });
  });

  it('writes quantities, times and base64 in canonical form', () => {
    expect(
      decode('core/v1.ResourceRequirements', { limits: { cpu: '1000m', memory: 1024 } }),
    ).to.deep.equal({
      limits: { cpu: '1', memory: '1024' },
    });
    const lease = { spec: { renewTime: '2026-01-01T01:00:00.123456+01:00' } };
    expect(decode('coordination/v1.Lease', lease)).to.deep.equal({
      metadata: {},
      spec: { renewTime: '2026-01-01T00:00:00.123456Z' },
    });
  });

  it('reads bytes from base64 with line breaks, from lists of numbers and from null', () => {
    const data = { text: 'AQ\r\nID', list: [1, 2, null, 255], none: null, empty: '' };
    expect(decode('core/v1.Secret', { data })).to.deep.include({
      data: { empty: '', list: 'AQIA/w==', none: '', text: 'AQID' },
    });
    for (const [given, problem] of [
      ['AQI', 'illegal base64 data at input byte 0'],
      ['AQIDAA', 'illegal base64 data at input byte 4'],
      ['AQ!D', 'illegal base64 data at input byte 2'],
      [5, 'json: cannot unmarshal number into Go struct field Secret.data of type []uint8'],
      [[256], 'json: cannot unmarshal number 256 into Go struct field Secret.data of type uint8'],
      [[-1], 'json: cannot unmarshal number -1 into Go struct field Secret.data of type uint8'],
    ] as const) {
      expect(() => decode('core/v1.Secret', { data: { a: given } })).to.throw(DecodeError, problem);
    }
  });

  it('reads whole numbers only within the range of their type', () => {
    const replicas = (value: unknown) => () =>
      decode('apps/v1.DeploymentSpec', { replicas: value });
    for (const value of [2 ** 31 - 1, -(2 ** 31), 0]) {
      expect(replicas(value)()).to.include({ replicas: value });
    }
    for (const value of [2 ** 31, -(2 ** 31) - 1, 1.5, true, '1']) {
      expect(replicas(value), String(value)).to.throw(DecodeError, /of type int32$/);
    }
  });

  it('keeps the field order of structs, and sorts the keys of maps', () => {
    const decoded = decode('core/v1.ConfigMap', {
      data: { b: '1', a: '2' },
      metadata: {},
      kind: 'ConfigMap',
    });
    expect(JSON.stringify(decoded)).to.equal(
      '{"kind":"ConfigMap","metadata":{},"data":{"a":"2","b":"1"}}',
    );
  });

  it('treats __proto__ as an ordinary key', () => {
    const decoded = decode('core/v1.ConfigMap', JSON.parse('{"data":{"__proto__":"x"}}')) as {
      data: object;
    };
    expect(Object.keys(decoded.data)).to.deep.equal(['__proto__']);
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
  });

  it('reports unknown fields by path, in the order of the document', () => {
    const at = new Decoding();
    const pod = {
      foo: 1,
      spec: { containers: [{ name: 'c', bar: 1 }] },
      metadata: { labels: { a: 'b' }, baz: 1 },
    };
    goType('core/v1.Pod').decode(pod, at);
    expect(at.unknownFields).to.deep.equal(['foo', 'spec.containers[0].bar', 'metadata.baz']);
  });

  const refused: [string, unknown, string][] = [
    [
      'apps/v1.Deployment',
      { spec: { replicas: '3' } },
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'apps/v1.Deployment',
      { spec: { replicas: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'core/v1.Pod',
      { spec: { volumes: [{ name: 'a', emptyDir: 3 }] } },
      'json: cannot unmarshal number into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource',
    ],
    [
      'coordination/v1.Lease',
      { spec: { renewTime: '2026-01-01T00:00:00Z' } },
      'parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    ],
    ['core/v1.Secret', { data: { a: '!!' } }, 'illegal base64 data at input byte 0'],
  ];
  for (const [type, value, message] of refused) {
    it(`refuses ${JSON.stringify(value)} as the real server does`, () => {
      expect(() => decode(type, value)).to.throw(DecodeError, message);
    });
  }
});
