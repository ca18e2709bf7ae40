import { expect } from 'chai';
import type { Allowed, Denied, Mutated } from '../../../lib/manager/webhooks/index.js';
import {
  allowed,
  denied,
  mutated,
  mutatingWebhook,
  validatingWebhook,
} from '../../../lib/manager/webhooks/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { applyJsonPatch } from '../../../lib/object/json-patch.js';
import type { JsonPatchOperation } from '../../../lib/object/json-patch.js';
import { rememberingLogger } from '../manager-setup.js';
import type { LogLine } from '../manager-setup.js';
import { ownCertificate, serving } from './suite/serving.js';
import type { Answer, OwnCertificate } from './suite/serving.js';

const sent = {
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } },
  data: { keep: 'me' },
};
const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
const request = { uid: 'u-1', operation: 'CREATE', kind, name: 'a', namespace: 'n', object: sent };
const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };

describe('values returned by admission handlers', () => {
  let own: OwnCertificate;
  let lines: LogLine[];

  before(async () => {
    own = await ownCertificate();
  });
  beforeEach(() => (lines = []));

  /** Sends a review to a webhook whose handler returns `verdict`. */
  const answerWith = async (
    verdict: Allowed | Denied | Mutated,
    newWebhook: typeof mutatingWebhook | typeof validatingWebhook = mutatingWebhook,
    sentReview: object = review,
  ): Promise<Answer> => {
    const webhook = newWebhook(ConfigMap, () => verdict as never);
    const server = await serving([webhook], own, { log: rememberingLogger(lines) });
    try {
      return await server.post(webhook.path, sentReview);
    } finally {
      await server.stop();
    }
  };
  const logged = () => {
    const errors = lines.filter(({ level }) => level === 'error');
    return errors.map(({ message, fields }) => `${message}: ${(fields['error'] as Error).message}`);
  };

  const objects: readonly (readonly [string, unknown, string])[] = [
    ['a Map', { ...sent, data: new Map([['a', 'b']]) }, 'data has no JSON form, got Map'],
    [
      'a Set',
      { ...sent, metadata: { ...sent.metadata, finalizers: new Set(['a.b/c']) } },
      'metadata.finalizers has no JSON form, got Set',
    ],
    ['a function', { ...sent, data: { x: () => 1 } }, 'data.x has no JSON form, got a function'],
    ['NaN', { ...sent, data: { x: NaN } }, 'data.x has no JSON form, got NaN'],
    ['undefined', undefined, 'want an object, got undefined'],
    ['null', null, 'want an object, got null'],
    ['a list', [sent], 'want an object, got a list'],
    ['a Promise', Promise.resolve(sent), 'want an object, got a Promise; await it'],
  ];
  for (const [what, object, problem] of objects) {
    it(`fails the call with an error that names webhook and object if mutated is given ${what}`, async () => {
      const { status, body } = await answerWith(mutated(object as never));
      expect(status).to.equal(500);
      const { message } = body as { message: string };
      const subject = 'webhook mconfigmap.core.k8s.io failed: ConfigMap n/a: ';
      expect(message).to.include(`${subject}mutated: ${problem}`);
      const [line = ''] = logged();
      expect(line).to.include('webhook mconfigmap.core.k8s.io threw: ConfigMap n/a: mutated: ');
      expect(line).to.include(problem);
    });
  }

  it('fails the call if a handler returns a changed object for a deletion', async () => {
    const { object, ...rest } = request;
    const deletion = { ...review, request: { ...rest, operation: 'DELETE', oldObject: object } };
    const { status, body } = await answerWith(mutated(sent), mutatingWebhook, deletion);
    expect(status).to.equal(500);
    expect(body)
      .to.have.property('message')
      .that.includes('a DELETE has no object to change: return allowed() or denied(…)');
    expect(logged()).to.have.length(1);
  });

  it('sends a Date that a handler has set as its JSON text', async () => {
    const data = new Date(0) as never;
    const { body } = await answerWith(mutated({ ...sent, data }));
    const { response } = body as { response: { patch: string } };
    const patch = JSON.parse(
      Buffer.from(response.patch, 'base64').toString(),
    ) as JsonPatchOperation[];
    expect(applyJsonPatch(sent, patch)).to.deep.equal({
      ...sent,
      data: '1970-01-01T00:00:00.000Z',
    });
  });

  const verdicts: readonly (readonly [string, Allowed | Denied, string])[] = [
    ['an Error as message', denied(new Error('no') as never), 'denied: message has no JSON form'],
    ['code NaN', denied('no', { code: NaN }), 'denied: code has no JSON form, got NaN'],
    ['a Set of warnings', allowed(new Set(['old']) as never), 'allowed: warnings has no JSON form'],
    [
      'a BigInt in a cause',
      denied('no', { causes: [{ field: 'data', message: 1n as never }] }),
      'denied: causes[0].message has no JSON form, got a BigInt',
    ],
  ];
  for (const [what, verdict, problem] of verdicts) {
    it(`fails the call of a validating webhook that answers with ${what}`, async () => {
      const { status, body } = await answerWith(verdict, validatingWebhook);
      expect(status).to.equal(500);
      expect(body).to.have.property('message').that.includes(`ConfigMap n/a: ${problem}`);
      expect(logged()).to.have.length(1);
    });
  }
});
