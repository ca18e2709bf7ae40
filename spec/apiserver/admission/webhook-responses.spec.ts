import { expect } from 'chai';
import { configMap, configMaps } from '../api.js';
import { installed, widget, widgets } from '../custom/widgets.js';
import { WebhookApi, patching, rule } from './webhook-api.js';

const encoded = (patch: string): object => ({
  ...{ allowed: true, patchType: 'JSONPatch' },
  patch: Buffer.from(patch).toString('base64'),
});
const failing = 'Internal error occurred: failed calling webhook "hook-0.acme.com": ';
const invalid = 'received invalid webhook response: ';
const field = 'into Go struct field AdmissionResponse.response';
const undecodable = 'received undecodable patch in webhook response: ';
const review = 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ';

/** A response, the error that it causes in a v1 review, and whether it is valid in a v1beta1 review. */
type Case = readonly [
  kind: 'Mutating' | 'Validating',
  response: object,
  failure: string,
  isAcceptedInV1Beta1?: true,
];

const mutating: Case[0] = 'Mutating';
const validating: Case[0] = 'Validating';

// Messages of the real server (v1.36).
const cases: readonly Case[] = [
  [
    mutating,
    { allowed: 'true' },
    `failed to call webhook: json: cannot unmarshal string ${field}.allowed of type bool`,
  ],
  [
    mutating,
    { allowed: true, warnings: 'w' },
    `failed to call webhook: json: cannot unmarshal string ${field}.warnings of type []string`,
  ],
  [
    mutating,
    { allowed: false, status: 'no' },
    `failed to call webhook: json: cannot unmarshal string ${field}.status of type v1.Status`,
  ],
  [
    mutating,
    { allowed: true, patchType: 'JSONPatch', patch: '[{}]' },
    'failed to call webhook: illegal base64 data at input byte 0',
  ],
  [
    mutating,
    encoded('[{}, 5]'),
    `${undecodable}json: cannot unmarshal number into Go value of type jsonpatch.Operation`,
  ],
  [
    mutating,
    encoded('{}'),
    `${undecodable}json: cannot unmarshal object into Go value of type jsonpatch.Patch`,
  ],
  [mutating, encoded('x'.repeat(101)), `${undecodable}${'x'.repeat(100)}`],
  [
    mutating,
    { allowed: true, uid: 'other' },
    `${invalid}expected response.uid="1", got "other"`,
    true,
  ],
  [
    mutating,
    { allowed: true, patch: 'W10=' },
    `${invalid}webhook returned response.patch but not response.patchType`,
    true,
  ],
  [
    mutating,
    { allowed: true, patchType: 'JSONPatch' },
    `${invalid}webhook returned response.patchType but not response.patch`,
    true,
  ],
  [
    mutating,
    { allowed: true, patch: 'W10=', patchType: '' },
    `${invalid}webhook returned invalid response.patchType of ""`,
    true,
  ],
  [
    mutating,
    { allowed: true, patch: 'W10=', patchType: 'Merge' },
    'unsupported patch type "Merge"',
    true,
  ],
  [
    validating,
    { allowed: true, patch: 'W10=' },
    `${invalid}validating webhook may not return response.patch`,
    true,
  ],
  [
    validating,
    { allowed: true, patchType: '' },
    `${invalid}validating webhook may not return response.patchType`,
    true,
  ],
];

describe('the response of an admission webhook', () => {
  /** Returns the code and the message of a write for both versions of a review. */
  async function answers(
    kind: 'Mutating' | 'Validating',
    configure: (hooks: WebhookApi) => void,
    more: object = {},
  ): Promise<unknown[]> {
    const found: unknown[] = [];
    for (const version of ['v1', 'v1beta1']) {
      const hooks = new WebhookApi();
      await hooks.configure(kind, { admissionReviewVersions: ['v2', version], ...more });
      configure(hooks);
      const { code, body } = await hooks.api.call('POST', configMaps, configMap('a'));
      found.push(code === 201 ? 201 : [code, body.message.replace(/uid="[0-9a-f-]+"/, 'uid="1"')]);
    }
    return found;
  }

  for (const [kind, response, failure, isAccepted = false] of cases) {
    const shown = JSON.stringify(response).slice(0, 100);
    it(`with the content ${shown} from a ${kind} webhook fails the write${isAccepted ? ' in v1' : ''}`, async () => {
      const refused = [500, failing + failure];
      const respond = (hooks: WebhookApi): void => void (hooks.answer = () => response);
      const expected = [refused, isAccepted ? 201 : refused];
      expect(await answers(kind, respond)).to.deep.equal(expected);
      const ignoring = { failurePolicy: 'Ignore' };
      expect(await answers(kind, respond, ignoring)).to.deep.equal([201, 201]);
    });
  }

  for (const [change, failure, isAccepted = false] of [
    [{ response: undefined }, 'webhook response was absent'],
    [{ apiVersion: 'v1' }, `${review}/v1, Kind=AdmissionReview`, true],
    [
      { apiVersion: 'admission.k8s.io/v2' },
      `${review}admission.k8s.io/v2, Kind=AdmissionReview`,
      true,
    ],
    [{ kind: 'Review' }, `${review}admission.k8s.io/v1, Kind=Review`, true],
    [{ apiVersion: undefined, kind: undefined }, `${review}/, Kind=`, true],
  ] as const) {
    it(`in a review with ${Object.keys(change).join()} changed to ${Object.values(change).join()} fails the write`, async () => {
      const found = await answers('Mutating', (hooks) => {
        hooks.review = (whole) => ({ ...whole, ...change });
      });
      const refused = [500, failing + invalid + failure];
      expect(found).to.deep.equal([refused, isAccepted ? 201 : refused]);
    });
  }

  for (const [operation, failure] of [
    [{ op: 'remove', path: '/none' }, 'JSON patch: operation 0: /none: /none does not exist'],
    [
      { op: 'replace', path: '/kind', value: 'other' },
      'admission webhook "hook-0.acme.com" changed the kind of the object from ConfigMap to "other"',
    ],
    [
      { op: 'replace', path: '/apiVersion', value: 'other' },
      'admission webhook "hook-0.acme.com" changed the apiVersion of the object from v1 to "other"',
    ],
    [
      { op: 'add', path: '/data', value: 5 },
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
    ],
  ] as const) {
    it(`fails the write with the patch ${JSON.stringify(operation)}`, async () => {
      const patch = (hooks: WebhookApi): void => void (hooks.answer = () => patching(operation));
      const refused = [500, `Internal error occurred: ${failure}`];
      expect(await answers('Mutating', patch)).to.deep.equal([refused, refused]);
    });
  }

  it('fails a deletion if it patches the object', async () => {
    const hooks = new WebhookApi();
    await hooks.api.create(configMaps, configMap('a'));
    await hooks.configure('Mutating', {});
    hooks.answer = () => patching({ op: 'add', path: '/data', value: {} });
    const { code, body } = await hooks.api.call('DELETE', `${configMaps}/a`);
    expect([code, body.message]).to.deep.equal([
      500,
      'Internal error occurred: admission webhook "hook-0.acme.com" attempted to modify the object, which is not supported for this operation',
    ]);
    hooks.answer = () => patching();
    expect((await hooks.api.call('DELETE', `${configMaps}/a`)).code).to.equal(200);
  });

  for (const [status, expected] of [
    [undefined, { why: ' without explanation', code: 400 }],
    [
      { code: 399, reason: 'Odd' },
      { why: ': Odd', reason: 'Odd', code: 400 },
    ],
    [
      {
        ...{ code: 418, reason: 'Odd', message: 'no', status: 'Success' },
        ...{ details: { name: 'x', causes: [{ field: 'f' }] }, metadata: { continue: 'c' } },
      },
      {
        ...{ why: ': no', reason: 'Odd', code: 418, metadata: { continue: 'c' } },
        details: { name: 'x', causes: [{ field: 'f' }] },
      },
    ],
  ] as const) {
    it(`denies the write with the status ${JSON.stringify(status)}`, async () => {
      const hooks = new WebhookApi();
      await hooks.configure('Validating', {});
      hooks.answer = () => ({ allowed: false, status });
      const { code, body } = await hooks.api.call('POST', configMaps, configMap('a'));
      const { why, ...rest } = expected;
      expect(code).to.equal(rest.code);
      expect(body).to.deep.equal({
        ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
        ...rest,
        message: `admission webhook "hook-0.acme.com" denied the request${why}`,
      });
      expect((await hooks.api.get(`${configMaps}/a`)).code).to.equal(404);
    });
  }

  it('may remove apiVersion and kind of a built-in object, which the server restores, but not those of a custom resource', async () => {
    const hooks = new WebhookApi();
    await installed(hooks.api);
    const rules = [rule(), rule({ apiGroups: ['example.com'], resources: ['widgets'] })];
    await hooks.configure('Mutating', { rules });
    hooks.answer = () =>
      patching({ op: 'remove', path: '/kind' }, { op: 'replace', path: '/apiVersion', value: '' });
    const { code, body } = await hooks.api.call('POST', configMaps, configMap('a'));
    expect([code, body.kind]).to.deep.equal([201, 'ConfigMap']);
    const custom = await hooks.api.call('POST', widgets, widget('a'));
    expect([custom.code, custom.body.message]).to.deep.equal([
      500,
      'Internal error occurred: admission webhook "hook-0.acme.com" removed the apiVersion of the object',
    ]);
  });
});
