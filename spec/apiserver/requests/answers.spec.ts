import { expect } from 'chai';
import { objectToProtobuf } from '../../../lib/apiserver/protobuf/objects.js';
import { Api, configMap, configMaps, deployment, deployments, jsonPatch, merge } from '../api.js';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const shops = '/apis/example.com/v1/namespaces/default/shops';

/** A server with the custom resource `Shop`, and one Shop. */
async function withShop(): Promise<Api> {
  const api = new Api();
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await api.create(definitions, {
    metadata: { name: 'shops.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'shops', kind: 'Shop' } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } },
          subresources: { scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
        },
      ],
    },
  });
  const metadata = { name: 'a', finalizers: ['a/b'] };
  await api.create(shops, { apiVersion: 'example.com/v1', kind: 'Shop', metadata });
  return api;
}

describe('the warnings in a response', () => {
  /** Sends a ConfigMap with unknown fields of these lengths. @returns the lengths of the warnings */
  async function warned(names: readonly string[]): Promise<string[]> {
    const fields = Object.fromEntries(names.map((name) => [name, 1]));
    const body = { ...configMap('a'), ...fields };
    const { headers } = await new Api().call('POST', configMaps, body);
    const text = Buffer.from(headers['warning'] ?? '', 'latin1').toString();
    return [...text.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, one = '']) => one);
  }

  it('are complete if they have together at most 4,096 characters', async () => {
    const prefix = 'unknown field \\"';
    const [one = ''] = await warned(['x'.repeat(4_096 - 'unknown field ""'.length)]);
    expect(one).to.equal(`${prefix}${'x'.repeat(4_080)}\\"`);
    const [cut = ''] = await warned(['x'.repeat(4_096 - 'unknown field ""'.length + 1)]);
    expect(cut).to.equal(`${prefix}${'x'.repeat(256 - 'unknown field "'.length)}`);
  });

  it('are cut to 256 characters each, and limited to 16, if they have together more than 4,096 characters', async () => {
    const names = Array.from({ length: 18 }, (_, n) => `é${n + 10}`.padEnd(300, 'é'));
    const texts = await warned(names);
    expect(texts.map((text) => text.length)).to.deep.equal(Array<number>(16).fill(257));
  });
});

describe('requests for custom resources', () => {
  it('are refused if they create an object while the definition is being deleted', async () => {
    const api = await withShop();
    await api.call('DELETE', `${definitions}/shops.example.com`);
    const metadata = { name: 'b' };
    const { code, body } = await api.call('POST', shops, {
      ...{ apiVersion: 'example.com/v1', kind: 'Shop', metadata },
    });
    expect([code, body['reason'], body.message, body['details']]).to.deep.equal([
      ...[405, 'MethodNotAllowed'],
      'create not allowed while custom resource definition is terminating',
      { group: 'example.com', kind: 'shops' },
    ]);
  });

  const metadataOf = (list: string) => ({
    accept: `application/json;as=PartialObjectMetadata${list};g=meta.k8s.io;v=v1`,
  });
  for (const [title, path, accept, why] of [
    ['an object', `${shops}/a`, metadataOf('List'), 'is not a list (*unstructured.Unstructured)'],
    ['a list', shops, metadataOf(''), 'is a list (*unstructured.UnstructuredList)'],
    ['a built-in list', configMaps, metadataOf(''), 'is a list (*core.ConfigMapList)'],
    [
      ...(['a list of another group', '/apis/apps/v1/deployments'] as const),
      ...[metadataOf(''), 'is a list (*apps.DeploymentList)'],
    ],
    [
      ...(['a built-in object', '/api/v1/namespaces/default'] as const),
      ...[metadataOf('List'), 'is not a list (*core.Namespace)'],
    ],
  ] as const) {
    it(`are answered 406 for a PartialObjectMetadata of a list, or a PartialObjectMetadataList of an object: ${title}`, async () => {
      const { code, body } = await (await withShop()).get(path, accept);
      const as = accept.accept.replace(/.*as=(\w+);.*/, '$1');
      expect([code, body['reason'], body.message]).to.deep.equal([
        ...[406, 'NotAcceptable'],
        `you requested ${as}, but the requested object ${why}`,
      ]);
    });
  }

  it('are answered 400 if they update or patch the collection instead of an object', async () => {
    const api = await withShop();
    const put = await api.call('PUT', shops, {});
    const patched = await api.call('PATCH', shops, {}, merge);
    const other = await api.call('PATCH', shops, {}, 'application/other');
    for (const { code, body } of [put, patched]) {
      expect([code, body.message]).to.deep.equal([400, 'name must be provided']);
    }
    expect(other.code).to.equal(415);
    expect((await api.call('PUT', configMaps, {})).code).to.equal(405);
  });
});

describe('patches that change the apiVersion or kind of an object', () => {
  const untyped = (given: string, name: string) =>
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${given} into Go struct field .${name} of type string`;
  const unnamed =
    'the name of the object (a based on URL) was undeterminable: name must be provided';
  const missingVersion =
    "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'";
  const missing = "Object 'Kind' is missing in 'OBJECT'";
  const unregistered = (kind: string, version: string) =>
    `no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`;
  // The change, then the code and message for a ConfigMap, and for a custom resource.
  const cases: readonly (readonly [
    change: object,
    builtIn: readonly [code: number, message: string | undefined],
    custom: readonly [code: number, message: string | undefined],
  ])[] = [
    [{ kind: 5 }, [422, untyped('number', 'kind')], [422, untyped('number', 'kind')]],
    [{ kind: ['x'] }, [422, untyped('array', 'kind')], [422, untyped('array', 'kind')]],
    [
      { apiVersion: true },
      ...([
        [422, untyped('bool', 'apiVersion')],
        [422, untyped('bool', 'apiVersion')],
      ] as const),
    ],
    [
      { kind: 5, apiVersion: {} },
      [422, untyped('object', 'apiVersion')],
      [422, untyped('object', 'apiVersion')],
    ],
    [{ kind: null }, [200, undefined], [422, missing]],
    [{ kind: '' }, [200, undefined], [422, missing]],
    [{ apiVersion: null }, [400, unnamed], [500, missingVersion]],
    [
      { kind: 'Secret' },
      [422, 'converting (v1.Secret) to (core.ConfigMap): unknown conversion'],
      [422, 'Secret.example.com "a" is invalid: kind: Invalid value: "Secret": must be Shop'],
    ],
    [
      { kind: 'Nothing' },
      [422, unregistered('Nothing', 'v1')],
      [422, 'Nothing.example.com "a" is invalid: kind: Invalid value: "Nothing": must be Shop'],
    ],
    [
      { apiVersion: 'x/v1' },
      [422, unregistered('ConfigMap', 'x/v1')],
      [
        400,
        'the API version in the data (x/v1) does not match the expected API version (example.com/v1)',
      ],
    ],
  ];
  for (const [change, builtIn, custom] of cases) {
    it(`are answered like on a real server: ${JSON.stringify(change)}`, async () => {
      const api = await withShop();
      await api.create(configMaps, configMap('a'));
      const operations = Object.entries(change).map(([name, value]: [string, unknown]) => {
        return { op: 'add', path: `/${name}`, value };
      });
      for (const [path, expected] of [
        [configMaps, builtIn],
        [shops, custom],
      ] as const) {
        const merged = await api.call('PATCH', `${path}/a`, change, merge);
        const patched = await api.call('PATCH', `${path}/a`, operations, jsonPatch);
        for (const { code, body } of [merged, patched]) {
          const said = (body.message as string | undefined)
            ?.replace(/^ "" is invalid: patch: Invalid value: "(?:[^"\\]|\\.)*": /, '')
            .replace(/ '\{.*\}'$/, " 'OBJECT'");
          expect([code, said]).to.deep.equal(expected);
        }
      }
    });
  }
});

describe('bodies of requests', () => {
  it('are read with U+FFFD in place of each lone surrogate, as Go does', async () => {
    const api = await withShop();
    const text =
      '{"metadata":{"name":"b"},"kind":"Shop","apiVersion":"example.com/v1","spec":SPEC}';
    const spec =
      '{"a\\ud800":"\\udc00","l":["\\ud83d\\ude00",1,null],"plain":{"\\ud83d\\ude00":true}}';
    const { code, body } = await api.call('POST', shops, text.replace('SPEC', spec));
    expect([code, body['spec']]).to.deep.equal([
      201,
      { 'a\ufffd': '\ufffd', l: ['😀', 1, null], plain: { '😀': true } },
    ]);
  });

  it('must be a Scale for /scale; for a custom resource, the error names an unregistered type', async () => {
    const api = await withShop();
    await api.create(deployments, deployment('d'));
    const put = async (path: string, body: string) => {
      const answer = await api.call('PUT', `${path}/scale`, body);
      return [answer.code, answer.body.message];
    };
    expect(await put(`${shops}/a`, '[]')).to.deep.equal([
      400,
      'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"',
    ]);
    const [code, message] = await put(`${deployments}/d`, '[]');
    expect(code).to.equal(400);
    expect(message).to.match(/^the object provided is unrecognized \(must be of type Scale\): /);
    const large = JSON.stringify({ metadata: { name: 'x'.repeat(4 * 1024 * 1024) } });
    expect((await put(`${shops}/a`, large))[0]).to.equal(413);
  });

  it('are read as YAML or protobuf by their Content-Type, and refused with another Content-Type', async () => {
    const api = new Api();
    const send = async (type: string, body: string | Uint8Array) => {
      const headers = { 'content-type': type };
      return (await api.raw({ method: 'POST', path: configMaps, headers, body })).status;
    };
    const text = JSON.stringify(configMap('a'));
    const protobuf = 'application/vnd.kubernetes.protobuf';
    expect(await send('application/yaml', 'metadata: {name: yaml}')).to.equal(201);
    expect(await send('', text)).to.equal(201);
    const bytes = objectToProtobuf(configMap('p') as never);
    expect(await send(protobuf, bytes)).to.equal(201);
    for (const [type, body] of [
      [protobuf, text],
      [protobuf, new TextEncoder().encode(text)],
      ['application/other', bytes],
      ['application/other', text],
    ] as const) {
      expect(await send(type, body), type).to.equal(415);
    }
  });

  it('are quoted in the error up to 30 bytes if they are not objects, as text or in hexadecimal', async () => {
    const api = new Api();
    const quoted = async (body: string): Promise<string | undefined> => {
      const { message } = (await api.call('POST', configMaps, body)).body;
      return /\(([^()]*)\)$/.exec(message)?.[1];
    };
    const thirty = `{"${'x'.repeat(28)}`;
    expect(await quoted(thirty)).to.equal(thirty);
    expect(await quoted(`${thirty}y`)).to.equal(`${thirty} ...`);
    expect(await quoted(' \t\r\n{')).to.equal(' \t\r\n{');
    expect(await quoted('xyz')).to.equal('78797a');
    expect(await quoted('')).to.equal('<empty>');
  });
});

describe('an error in YAML', () => {
  it('is replaced by another error if its message has a character that YAML does not allow', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const put = async (name: string): Promise<unknown> => {
      const headers = { accept: 'application/yaml', 'content-type': 'application/json' };
      const body = JSON.stringify(configMap(name));
      const answer = await api.raw({ method: 'PUT', path: `${configMaps}/a`, headers, body });
      let text = '';
      for await (const chunk of answer.body) text += new TextDecoder().decode(chunk);
      return [answer.status, answer.headers['content-type'], /^message: (.*)$/m.exec(text)?.[1]];
    };
    expect(await put('b')).to.deep.equal([
      ...[400, 'application/yaml'],
      'the name of the object (b) does not match the name on the URL (a)',
    ]);
    expect(await put('\u007f')).to.deep.equal([
      ...[500, 'application/yaml', "'yaml: control characters are not allowed'"],
    ]);
  });
});
