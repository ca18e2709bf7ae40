import { expect } from 'chai';
import { ConversionApi, shop, v1, v2 } from './conversion-api.js';
import type { Shop } from './conversion-api.js';

type Response = Record<string, unknown>;

const webhook = 'conversion webhook for acme.com/v2, Kind=Shop';

/** Returns a response that changes the last converted object. */
function last(change: (shop: Shop) => object): ConversionApi['change'] {
  return (response) => {
    const objects = response['convertedObjects'] as Shop[];
    const final = objects.at(-1);
    const convertedObjects = [...objects.slice(0, -1), ...(final ? [change(final)] : [])];
    return { ...response, convertedObjects };
  };
}

/** Returns a response that changes the metadata of the last object. */
function metadata(change: object): ConversionApi['change'] {
  return last((shop) => ({ ...shop, metadata: { ...shop.metadata, ...change } }));
}

/** A change of the webhook's response, and the errors of a request for one object and for a list of two. */
type Case = readonly [title: string, change: ConversionApi['change'], one: string, listed: string];

/** Returns a case whose message names the index of the object only in a list. */
function single(title: string, change: ConversionApi['change'], why: string): Case {
  const [one, listed] = ['object', 'converted object at index 1'];
  return [title, change, `returned invalid ${one}: ${why}`, `returned invalid ${listed}: ${why}`];
}

function ofType(title: string, change: object, why: string): Case {
  return [
    `another ${title}`,
    last((shop) => ({ ...shop, ...change })),
    `returned invalid object at index 0: invalid ${why}`,
    `returned invalid converted object at index 1: invalid ${why}`,
  ];
}

function ofMetadata(title: string, change: ConversionApi['change'], why: string): Case {
  return [
    title,
    change,
    `returned invalid metadata: ${why}`,
    `returned invalid metadata in object at index 1: ${why}`,
  ];
}

function failing(title: string, change: ConversionApi['change'], why: string): Case {
  return [title, change, `failed: ${why}`, `failed: ${why}`];
}

const result = (status: object) => (response: Response) => ({ ...response, result: status });
const badLabel =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const missing = { apiVersion: undefined, kind: undefined };

// Messages of the real server (v1.36).
const cases: readonly Case[] = [
  [
    'fewer objects',
    (response) => ({ ...response, convertedObjects: [] }),
    'returned 0 objects, expected 1',
    'returned 0 objects, expected 2',
  ],
  [
    'null for the objects',
    (response) => ({ ...response, convertedObjects: null }),
    'returned 0 objects, expected 1',
    'returned 0 objects, expected 2',
  ],
  ofType(
    'version',
    { apiVersion: 'acme.com/v2' },
    'groupVersion (expected acme.com/v1, received acme.com/v2)',
  ),
  ofType('type', missing, 'groupVersion (expected acme.com/v1, received )'),
  ofType('kind', { kind: 'Store' }, 'kind (expected Shop, received Store)'),
  ofType('kind, none', { kind: undefined }, 'kind (expected Shop, received )'),
  single('another name', metadata({ name: 'z' }), 'must have the same name: a != z'),
  single(
    'another namespace',
    metadata({ namespace: 'z' }),
    'must have the same namespace: default != z',
  ),
  single(
    'no namespace',
    metadata({ namespace: undefined }),
    'must have the same namespace: default != ',
  ),
  single('another uid', metadata({ uid: 'z' }), 'must have the same UID: 1 != z'),
  ...(['labels', 'annotations'] as const).flatMap((field) =>
    (
      [
        ['[]interface {}', []],
        ['string', 'x'],
        ['bool', true],
        ['int64', 5],
        ['float64', 0.5],
      ] as const
    ).map(([type, value]) =>
      ofMetadata(
        `${field} of the type ${type}`,
        metadata({ [field]: value }),
        `invalid metadata.${field} of type ${type} in converted object`,
      ),
    ),
  ),
  ...(['labels', 'annotations'] as const).flatMap((field) =>
    (
      [
        ['<nil>', null],
        ['map[string]interface {}', {}],
        ['[]interface {}', []],
        ['int64', 5],
      ] as const
    ).map(([type, value]) =>
      ofMetadata(
        `a value of ${field} of the type ${type}`,
        metadata({ [field]: { ok: 'x', by: value } }),
        `metadata.${field}[by] must be a string, but is ${type} in converted object`,
      ),
    ),
  ),
  ofMetadata(
    'an invalid label',
    metadata({ labels: { by: '-' } }),
    `metadata.labels: Invalid value: "-": ${badLabel}`,
  ),
  ofMetadata(
    'long annotations',
    metadata({ annotations: { by: 'x'.repeat(256 * 1024) } }),
    'metadata.annotation: Too long: may not be more than 262144 bytes',
  ),
  failing('a failure', result({ status: 'Failure', message: 'no way' }), 'no way'),
  failing(
    'a failure without a message',
    result({ status: 'Failure' }),
    "response.result.status was 'Failure', not 'Success'",
  ),
  failing('no status', result({}), "response.result.status was '', not 'Success'"),
  failing(
    'another uid of the response',
    (response) => ({ ...response, uid: 'z' }),
    'expected response.uid="1", got "z"',
  ),
  failing(
    'a member of another type',
    (response) => ({ ...response, convertedObjects: {} }),
    'json: cannot unmarshal object into Go struct field ConversionResponse.response.convertedObjects of type []json.RawMessage',
  ),
  failing('no response', () => undefined, 'no response provided'),
];

/** Replaces uids, which differ between runs. */
function plain(message: string): string {
  return message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '1');
}

describe('a conversion webhook that answers with', () => {
  for (const [title, change, one, listed] of cases) {
    it(`${title} fails the request for an object, and for a list`, async () => {
      const conversions = await new ConversionApi().start();
      const { api } = conversions;
      for (const name of ['b', 'a']) await api.create(v2, shop(name, { count: 1 }, 'v2'));
      conversions.change = change;
      const answers = [await api.get(`${v1}/a`), await api.get(v1)];
      expect(answers.map(({ code, body }) => [code, plain(body.message)])).to.deep.equal([
        [500, `${webhook} ${one}`],
        [500, `${webhook} ${listed.replace(/: a != /, ': b != ')}`],
      ]);
    });
  }

  for (const [review, got] of [
    [{ kind: 'Review' }, 'apiextensions.k8s.io/v1, Kind=Review'],
    [{ apiVersion: 'v1' }, '/v1, Kind=ConversionReview'],
    [{ apiVersion: undefined, kind: undefined }, '/, Kind='],
    [
      { apiVersion: 'apiextensions.k8s.io/v1beta1' },
      'apiextensions.k8s.io/v1beta1, Kind=ConversionReview',
    ],
  ] as const) {
    it(`a review of ${got} fails the request, unless the server sent its review in v1beta1`, async () => {
      for (const version of ['v1', 'v1beta1']) {
        const conversions = await new ConversionApi().start([...new Set(['v2', version, 'v1'])]);
        const { api } = conversions;
        await api.create(v2, shop('a', { count: 1 }, 'v2'));
        conversions.review = (whole) => ({ ...whole, ...review });
        conversions.change = (response) => ({ ...response, uid: 'other' });
        const { code, body } = await api.get(`${v1}/a`);
        expect(conversions.reviewVersions).to.deep.equal([`apiextensions.k8s.io/${version}`]);
        if (version === 'v1beta1') expect(body['spec']).to.deep.equal({ size: '1' });
        else {
          const expected = 'apiextensions.k8s.io/v1, Kind=ConversionReview';
          const why = `expected webhook response of ${expected}, got ${got}`;
          expect([code, body.message]).to.deep.equal([500, `${webhook} failed: ${why}`]);
        }
      }
    });
  }

  it('a failure causes a write to store nothing', async () => {
    const conversions = await new ConversionApi().start();
    const { api } = conversions;
    conversions.change = result({ status: 'Failure' });
    expect((await api.call('POST', v1, shop('b', { size: '1' }))).code).to.equal(500);
    expect((await api.get(v2)).body.items).to.deep.equal([]);
  });
});
