import { expect } from 'chai';
import { inspect } from 'node:util';
import { apiErrorOf } from '../../lib/client/answers.js';
import { isNotFound } from '../../lib/object/api-error.js';

const call = { verb: 'get', kind: 'ConfigMap', namespace: 'shop', name: 'web' };

const secretCall = { ...call, verb: 'create', kind: 'Secret', name: 'pin' };
const answerOf = (status: number, text: string) => ({
  status,
  headers: {},
  text,
});

const errorOf = (status: number, text: string) => apiErrorOf(call, { status, headers: {}, text });

describe('apiErrorOf', () => {
  it('keeps a Status unchanged', () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      code: 404,
      reason: 'NotFound',
      message: 'no',
    };
    const error = errorOf(404, JSON.stringify(status));
    expect(error.body).to.deep.equal(status);
    expect(isNotFound(error)).to.equal(true);
  });

  it('treats the plain-text 404 of an unknown group as NotFound', () => {
    const error = errorOf(404, '404 page not found\n');
    expect(isNotFound(error)).to.equal(true);
    expect(error.message).to.equal('get ConfigMap shop/web: 404: 404 page not found');
  });

  it('keeps the HTTP status and the message of a 500 whose Status has no reason', () => {
    const message = 'failed to create typed patch object';
    const error = errorOf(500, JSON.stringify({ kind: 'Status', apiVersion: 'v1', message }));
    expect(error).to.include({ status: 500, reason: '' });
    expect(error.message).to.contain(message);
  });

  it('truncates a body that is not a Status, such as the page of a proxy, to 1,000 characters', () => {
    const error = errorOf(502, `<html>${'x'.repeat(5_000)}`);
    expect(error.context.text).to.have.length(1_000);
    expect(error.status).to.equal(502);
  });

  it('quotes JSON that is not a Status, and says that an empty body has no message', () => {
    expect(errorOf(503, '').message).to.equal('get ConfigMap shop/web: 503: no message');
    expect(errorOf(400, '[1]').message).to.equal('get ConfigMap shop/web: 400: [1]');
    expect(errorOf(400, 'null').message).to.equal('get ConfigMap shop/web: 400: null');
  });

  for (const [what, message] of [
    ['webhook', 'admission webhook "pins.example.com" denied the request: hunter2 is too short'],
    [
      'policy',
      `secrets "pin" is forbidden: ValidatingAdmissionPolicy 'pins' with binding 'all' denied request: hunter2 is too short`,
    ],
  ] as const) {
    it(`names the ${what} that denied a Secret without quoting its data`, () => {
      const status = { kind: 'Status', code: 403, reason: 'Forbidden', message };
      const error = apiErrorOf(secretCall, answerOf(403, JSON.stringify(status)));
      expect(error.message).to.match(/(webhook "|Policy ')pins.*denied (the )?request/);
      expect(inspect(error)).not.to.include('hunter2');
    });
  }

  it('keeps the message about a missing permission for a Secret', () => {
    const message =
      'secrets "pin" is forbidden: User "system:anonymous" cannot get resource "secrets" in API group "" in the namespace "shop"';
    const status = { kind: 'Status', code: 403, reason: 'Forbidden', message };
    const error = apiErrorOf(secretCall, answerOf(403, JSON.stringify(status)));
    expect(error.message).to.include('cannot get resource "secrets"');
  });

  it('does not quote a body that is not a Status in an error about a Secret', () => {
    const error = apiErrorOf(secretCall, answerOf(502, 'bad request body: {"pin":"hunter2"}'));
    expect(error.message).to.match(/^create Secret shop\/pin: 502/);
    expect(inspect(error)).not.to.include('hunter2');
  });
});
