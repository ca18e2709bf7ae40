import { expect } from 'chai';
import { apiErrorOf } from '../../lib/client/response-error.js';
import { isNotFound } from '../../lib/object/api-error.js';

const call = { verb: 'get', kind: 'ConfigMap', namespace: 'shop', name: 'web' };

const errorOf = (status: number, text: string) =>
  apiErrorOf(call, { status, headers: {}, body: Buffer.from(text) });

describe('apiErrorOf', () => {
  it('keeps a Status as it came', () => {
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

  it('takes the plain-text 404 of an unknown group for NotFound', () => {
    const error = errorOf(404, '404 page not found\n');
    expect(isNotFound(error)).to.equal(true);
    expect(error.message).to.equal('get ConfigMap shop/web: 404: 404 page not found');
  });

  it('keeps a 500 without a reason', () => {
    const message = 'failed to create typed patch object';
    const error = errorOf(500, JSON.stringify({ kind: 'Status', apiVersion: 'v1', message }));
    expect(error).to.include({ status: 500, reason: '' });
    expect(error.message).to.contain(message);
  });

  it("cuts a proxy's page to 1,000 characters", () => {
    const error = errorOf(502, `<html>${'x'.repeat(5_000)}`);
    expect(error.context.text).to.have.length(1_000);
    expect(error.status).to.equal(502);
  });

  it('copes with an empty body, and with JSON that is no Status', () => {
    expect(errorOf(503, '').message).to.equal('get ConfigMap shop/web: 503: no message');
    expect(errorOf(400, '[1]').message).to.equal('get ConfigMap shop/web: 400: [1]');
    expect(errorOf(400, 'null').message).to.equal('get ConfigMap shop/web: 400: null');
  });
});
