import { expect } from 'chai';
import fc from 'fast-check';
import { Decoding } from '../../../lib/apiserver/go-json/decoding.js';
import { goType } from '../../../lib/apiserver/go-json/go-types.js';
import { definitionName, goTypeName } from '../../../lib/apiserver/kinds/documents.js';
import { objectFromProtobuf, objectToProtobuf } from '../../../lib/apiserver/protobuf/objects.js';
import { groupOf, versionOf } from '../../../lib/object/resource-type.js';
import { Api, deployments } from '../api.js';
import { protobufSamples } from './samples.js';

/** Body that kubectl 1.32 sends for `auth can-i get healthview`. */
const recorded = Buffer.from(
  '6b387300' +
    '0a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631' +
    '121753656c665375626a656374416363657373526576696577' +
    '125a0a100a0012001a0022002a0032003800420012' +
    '3c0a3a0a0764656661756c7412036765741a18' +
    '73686f702e766965772e64636f6e74726f6c6c65722e696f' +
    '22002a0a6865616c74687669657732003a001a080800' +
    '12001a0020001a002200',
  'hex',
);

/** Body that kubectl 1.32 sends for `create deployment web --image=nginx --replicas=0`. */
const createDeployment =
  'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50EqsBCh8KA3dlYhIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViEnoIABIM' +
  'CgoKA2FwcBIDd2ViGmAKHAoAEgAaACIAKgAyADgAQgBaCgoDYXBwEgN3ZWISQBIiCgVuZ2lueBIFbmdpbngqAEIAagBy' +
  'AIABAIgBAJABAKIBABoAMgBCAEoAUgBYAGAAaACCAQCKAQCaAQDCAQAiAgoAKAA4ABoMCAAQABgAIAAoADgAGgAiAA==';

describe('objectToProtobuf', () => {
  it('encodes strings of any length', () => {
    for (let length = 10_000; length < 6_000_000; length *= 3) {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
      const large = { ...object, data: { text: 'x'.repeat(length) } };
      const { data } = objectFromProtobuf(objectToProtobuf(large)) as typeof large;
      expect(data.text === large.data.text).to.equal(true);
    }
  });

  it('encodes an object correctly after it has refused another object', () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    const before = objectToProtobuf(map);
    expect(() => objectToProtobuf({ ...map, kind: 'Widget' })).to.throw('not built in');
    expect(objectToProtobuf(map)).to.deep.equal(before);
  });
});

describe('objectFromProtobuf', () => {
  it('decodes a SelfSubjectAccessReview sent by kubectl', () => {
    const read = objectFromProtobuf(recorded);
    expect(read).to.include({
      ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
    });
    expect(read?.['spec']).to.deep.equal({
      resourceAttributes: {
        ...{ namespace: 'default', verb: 'get', group: 'shop.view.dcontroller.io' },
        ...{ version: '', resource: 'healthview', subresource: '', name: '' },
      },
    });
  });

  for (const [name, { protobuf, json }] of Object.entries(protobufSamples)) {
    it(`decodes each field of ${name} as in JSON`, () => {
      const { apiVersion, kind } = json;
      const definition = definitionName(groupOf(apiVersion), versionOf(apiVersion), kind);
      const type = goType(goTypeName(definition));
      const decoded = (object: unknown): unknown => type.decode(object, new Decoding());
      const read = objectFromProtobuf(Buffer.from(protobuf, 'base64'));
      expect(decoded(read)).to.deep.equal(decoded(json));
    });

    it(`encodes ${name} to the bytes that Go writes`, () => {
      expect(Buffer.from(objectToProtobuf(json)).toString('base64')).to.equal(protobuf);
    });
  }

  it('decodes a Deployment created by kubectl', async () => {
    const api = new Api();
    const { status } = await api.raw({
      method: 'POST',
      path: `${deployments}?fieldManager=kubectl-create&fieldValidation=Strict`,
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
      body: Buffer.from(createDeployment, 'base64'),
    });
    expect(status).to.equal(201);
    const { body } = await api.get(`${deployments}/web`);
    expect(body.metadata.labels).to.deep.equal({ app: 'web' });
    expect(body['spec']).to.deep.include({ replicas: 0, revisionHistoryLimit: 10 });
    expect(body['spec']).not.to.have.any.keys('paused', 'minReadySeconds');
    expect(body.metadata.managedFields).to.have.length(1);
    expect(JSON.stringify(body.metadata.managedFields)).not.to.include('f:paused');
  });

  it('returns undefined for other kinds, other formats and truncated input', () => {
    const other = Buffer.from(recorded);
    other.write('X', other.indexOf('SelfSubjectAccessReview'));
    for (const bytes of [
      other,
      Buffer.from('{}'),
      recorded.subarray(4),
      recorded.subarray(0, 60),
    ]) {
      expect(objectFromProtobuf(bytes)).to.equal(undefined);
    }
  });

  it('decodes the schemas of a CustomResourceDefinition that it encoded', () => {
    const schema = {
      type: 'object',
      minimum: -1.5,
      maxLength: 2 ** 40,
      default: { any: [1, null] },
      additionalProperties: { type: 'string' },
      items: [{ type: 'string' }],
      dependencies: { a: ['b', 'c'], d: { type: 'object' } },
      properties: { nested: { type: 'array', items: { type: 'integer' } } },
      'x-kubernetes-validations': [{ rule: 'self.a > 1' }],
    };
    const definition = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'widgets', kind: 'Widget' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, schema: { openAPIV3Schema: schema } }],
      },
    };
    const type = goType('apiextensions/v1.CustomResourceDefinition');
    const decoded = (object: unknown): unknown => type.decode(object, new Decoding());
    const read = objectFromProtobuf(objectToProtobuf(definition));
    expect(decoded(read)).to.deep.equal(decoded(definition));
  });

  const typed = { apiVersion: 'v1', kind: 'ConfigMap' };
  /** The bytes of an envelope with `raw` as the object. */
  const envelope = (...raw: readonly (number | string)[]): Buffer => {
    const bytes = Buffer.concat(
      raw.map((part) => Buffer.from(typeof part === 'string' ? part : [part])),
    );
    const head = Buffer.concat([
      Buffer.from([0x0a, 2]),
      Buffer.from('v1'),
      Buffer.from([0x12, 9]),
      Buffer.from('ConfigMap'),
    ]);
    return Buffer.concat([
      ...[Buffer.from('k8s\0'), Buffer.from([0x0a, head.length]), head],
      ...[Buffer.from([0x12, bytes.length]), bytes],
    ]);
  };

  it('decodes whole numbers of 64 bits with their sign', () => {
    for (const generation of [0, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 53 - 1, -1, -(2 ** 53) + 1]) {
      const object = { ...typed, metadata: { name: 'a', generation } };
      const { metadata } = objectFromProtobuf(objectToProtobuf(object)) as typeof object;
      expect(metadata.generation).to.equal(generation);
    }
  });

  it('skips unknown fields of every encoding', () => {
    const unknown = [0x48, 0x96, 0x01, 0x51, '12345678', 0x5a, 2, 'xy'];
    const immutable = [0x20, 1];
    const read = objectFromProtobuf(envelope(...unknown, ...immutable, ...unknown));
    expect(read).to.deep.equal({ ...typed, immutable: true });
  });

  it('returns undefined for bytes that do not encode the fields of the object', () => {
    const wrong: readonly (readonly (number | string)[])[] = [
      [0x21, '12345678'], // `immutable` as eight bytes
      [0x20], // without a value
      [0x20, 0x80], // with half a value
      [0x20, ...Array<number>(11).fill(0x80), 1], // with a value of more than 64 bits
      [0x23], // a group, which Kubernetes does not use
      [0x51, '1234567'], // seven bytes of eight
      [0x5a, 3, 'xy'], // a text that does not end
    ];
    for (const raw of wrong) {
      expect(objectFromProtobuf(envelope(...raw)), raw.join()).to.equal(undefined);
    }
    expect(objectFromProtobuf(envelope())).to.deep.equal(typed);
  });

  it('decodes entries of maps without a key or a value, and with unknown fields', () => {
    const entry = (...parts: readonly (number | string)[]): (number | string)[] => {
      const length = parts.reduce<number>(
        (sum, one) => sum + (typeof one === 'string' ? one.length : 1),
        0,
      );
      return [0x12, length, ...parts];
    };
    const read = objectFromProtobuf(
      envelope(
        ...entry(0x0a, 1, 'k', 0x12, 1, 'v'),
        ...entry(0x12, 1, 'w'),
        ...entry(0x0a, 1, 'n', 0x18, 1),
      ),
    );
    expect(read).to.deep.equal({ ...typed, data: { k: 'v', '': 'w', n: null } });
  });

  it('does not throw for arbitrary bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 100 });
    const property = fc.property(bytes, fc.nat(recorded.length), (some, from) => {
      const mixed = Buffer.concat([recorded.subarray(0, from), some]);
      objectFromProtobuf(mixed);
    });
    fc.assert(property);
  });
});
