import { expect } from 'chai';
import { briefError, durationText, readableMessage } from '../../lib/feed/text-logger.js';
import { ApiError } from '../../lib/object/api-error.js';
import type { StatusCause } from '../../lib/object/api-error.js';
import { OperatorError } from '../../lib/system/operator-error.js';

const web = { verb: 'apply', kind: 'Deployment', namespace: 'shop', name: 'web', status: 422 };

function refused(message: string, causes: StatusCause[], context = web): ApiError {
  return new ApiError({ reason: 'Invalid', message, details: { causes } }, context);
}

const field = 'spec.template.spec.containers';
const required = refused(`Deployment.apps "web" is invalid: ${field}: Required value`, [
  { reason: 'FieldValueRequired', message: 'Required value', field },
]);

describe('briefError', () => {
  it('names the object, the status code, and each rejected field with its reason', () => {
    expect(briefError(required)).to.equal(
      `apply Deployment shop/web: 422 ${field}: Required value`,
    );
  });

  it('shows the response of the server instead of the error that wraps it', () => {
    const message = `Deployment shop/web can't be applied as it is: ${required.message}`;
    const around = new OperatorError('Terminal', message, { cause: required });
    expect(briefError(around)).to.equal(briefError(required));
  });

  it('readableMessage keeps the line breaks of an OperatorError, and lists the errors of an AggregateError', () => {
    const rules = new OperatorError('MissingPermission', 'rules are missing:\n- get shops');
    expect(readableMessage(rules)).to.equal(rules.message);
    expect(readableMessage(required)).to.equal(briefError(required));
    const several = new AggregateError([required, new Error('no till')], 'several');
    expect(readableMessage(several)).to.equal(`2 errors:\n- ${briefError(required)}\n- no till`);
  });

  describe('of an error with a cause', () => {
    const refusedBy = (address: string) =>
      Object.assign(new Error(`connect ECONNREFUSED ${address}`), { syscall: 'connect' });
    const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });

    it('names the reason of a failed connection, which the message of fetch leaves out', () => {
      expect(briefError(fetchFailed(refusedBy('10.0.0.1:80')))).to.equal(
        'fetch failed: connect ECONNREFUSED 10.0.0.1:80',
      );
      const both = new AggregateError([refusedBy('::1:80'), refusedBy('127.0.0.1:80')]);
      expect(briefError(fetchFailed(both))).to.equal(
        'fetch failed: connect ECONNREFUSED ::1:80; connect ECONNREFUSED 127.0.0.1:80',
      );
      expect(briefError(fetchFailed(new Error('bad port')))).to.equal('fetch failed: bad port');
      const around = new OperatorError('Terminal', 'no database', { cause: refusedBy('db:5432') });
      expect(briefError(around)).to.equal('no database: connect ECONNREFUSED db:5432');
    });

    it('does not repeat a cause that the message contains', () => {
      const cause = refusedBy('10.0.0.1:80');
      expect(briefError(new Error(`shops: ${cause.message}`, { cause }))).to.equal(
        'shops: connect ECONNREFUSED 10.0.0.1:80',
      );
      const own: Error = fetchFailed(undefined);
      own.cause = own;
      expect(briefError(own)).to.equal('fetch failed');
    });

    it('leaves out causes that are not connection errors, since they may quote the data of a Secret', () => {
      const cause = new SyntaxError('Unexpected token in "hunter2"');
      expect(briefError(new Error('Secret creds: not JSON', { cause }))).to.equal(
        'Secret creds: not JSON',
      );
      expect(briefError(fetchFailed({ token: 'hunter2' }))).to.equal('fetch failed');
    });
  });

  it('names the class of an error without a message', () => {
    class NoTill extends Error {}
    expect(
      [new Error(''), new RangeError(), new NoTill(), new AggregateError([])].map((error) =>
        briefError(error),
      ),
    ).to.deep.equal(['Error', 'RangeError', 'NoTill', 'AggregateError']);
  });

  it('omits an object that the log line already names', () => {
    expect(briefError(required, 'Deployment shop/web')).to.equal(`422 ${field}: Required value`);
    expect(briefError(new Error('Shop a: the till is full'), 'Shop a')).to.equal(
      'the till is full',
    );
  });

  it('extracts the unknown field from a response that quotes the whole object', () => {
    const object = JSON.stringify({ spec: { replica: 3, text: 'x'.repeat(1_500) } });
    const why = `Invalid value: ${JSON.stringify(object)}: strict decoding error: unknown field "spec.replica"`;
    const error = refused(`"" is invalid: patch: ${why}`, [{ field: 'patch', message: why }]);
    expect(briefError(error)).to.equal(
      'apply Deployment shop/web: 422 unknown field "spec.replica" (correct the name, or leave the field out)',
    );
  });

  it('cuts a long value, but never within a surrogate pair', () => {
    const message = `Invalid value: "${'x'.repeat(78)}😀😀": must be no more than 63 characters`;
    const error = refused('invalid', [{ field: 'metadata.name', message }]);
    expect(briefError(error)).to.contain(`Invalid value: "${'x'.repeat(78)}…: must be`);
  });

  it('cuts long values but keeps the reason after them', () => {
    const message = `Invalid value: "${'x'.repeat(500)}": must be no more than 63 characters`;
    const text = briefError(refused('invalid', [{ field: 'metadata.name', message }]));
    expect(text).to.match(
      /metadata\.name: Invalid value: "x+…: must be no more than 63 characters$/,
    );
    expect(text.length).to.be.below(200);
  });

  it('joins several errors in one line, without DependencyFailed errors and duplicates', () => {
    const waited = new OperatorError('DependencyFailed', 'Service shop/web: not applied');
    const all = new AggregateError(
      [required, new Error('one\n  two'), waited, required],
      'several',
    );
    expect(briefError(all)).to.equal(
      `apply Deployment shop/web: 422 ${field}: Required value; one two`,
    );
  });

  it('keeps the advice for a refusal whose response names no field', () => {
    const body = { reason: 'Forbidden', message: 'User "a" cannot list' };
    const context = { verb: 'list', kind: 'Pod', status: 403 };
    expect(briefError(new ApiError(body, context))).to.equal(
      'list Pod: 403 Forbidden: User "a" cannot list (check the RBAC rules of this operator)',
    );
  });

  for (const [ms, text] of [
    [20, '20 ms'],
    [1_280, '1.3 s'],
    [5_000, '5 s'],
    [1_000_000, '17 min'],
  ] as const) {
    it(`formats ${ms} milliseconds as ${text}`, () => {
      expect(durationText(ms)).to.equal(text);
    });
  }
});
