import { expect } from 'chai';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
} from '../../lib/object/api-error.js';
import type { ApiErrorContext, Status } from '../../lib/object/api-error.js';
import { OperatorError } from '../../lib/system/index.js';

const errorOf = (body: Status, context: Partial<ApiErrorContext> = {}): ApiError =>
  new ApiError(body, { verb: 'get', kind: 'Pod', status: 500, ...context });

describe('the reason of an ApiError, which isNotFound and similar functions check', () => {
  const checks = {
    isNotFound,
    isAlreadyExists,
    isConflict,
    isGone,
    isInvalid,
    isForbidden,
    isUnauthorized,
    isTooManyRequests,
  };
  const namesOf = (error: unknown): string[] =>
    Object.entries(checks)
      .filter(([, check]) => check(error))
      .map(([name]) => name);

  const rows: [reason: string | undefined, status: number, is: string[]][] = [
    ['NotFound', 404, ['isNotFound']],
    ['AlreadyExists', 409, ['isAlreadyExists']],
    ['Conflict', 409, ['isConflict']],
    ['Gone', 410, ['isGone']],
    ['Expired', 410, ['isGone']],
    ['Invalid', 422, ['isInvalid']],
    ['Forbidden', 403, ['isForbidden']],
    ['Unauthorized', 401, ['isUnauthorized']],
    ['TooManyRequests', 429, ['isTooManyRequests']],
    ['InternalError', 404, []],
    ...[undefined, '', 'Unknown'].flatMap((reason): (typeof rows)[number][] => [
      [reason, 404, ['isNotFound']],
      [reason, 409, ['isConflict']],
      [reason, 410, ['isGone']],
      [reason, 422, ['isInvalid']],
      [reason, 403, ['isForbidden']],
      [reason, 401, ['isUnauthorized']],
      [reason, 429, ['isTooManyRequests']],
      [reason, 500, []],
    ]),
  ];
  for (const [reason, status, is] of rows) {
    it(`${reason ?? 'absent'} with status ${status} means ${is.join() || 'none of these functions is true'}`, () => {
      const error = errorOf({ ...(reason !== undefined && { reason }) }, { status });
      expect(namesOf(error)).to.deep.equal(is);
      expect(error.reason).to.equal(reason ?? '');
    });
  }

  for (const [reason, status] of [
    ['Conflict', 409],
    ['AlreadyExists', 409],
    ['NotFound', 404],
  ] as const) {
    it(`makes no such function true if a webhook refuses a write with ${reason}`, () => {
      const message = 'admission webhook "v.example.com" denied the request: not in this tree';
      expect(namesOf(errorOf({ reason, message }, { status }))).to.deep.equal([]);
    });
  }

  it('makes the function true although the message only quotes the refusal of an admission policy', () => {
    const quoted = "policy 'p' with binding 'b' denied request: no";
    const message = `Apply failed with 1 conflict: conflict with "${quoted}": .spec.replicas`;
    expect(namesOf(errorOf({ reason: 'Conflict', message }, { status: 409 }))).to.deep.equal([
      'isConflict',
    ]);
  });

  it('makes no such function true for an error that is not an ApiError', () => {
    expect(namesOf(Object.assign(new Error('not found'), { status: 404 }))).to.deep.equal([]);
    expect(namesOf(new OperatorError('InvalidValue', 'not found'))).to.deep.equal([]);
  });

  it('makes isNamespaceTerminating true only for a Forbidden with that cause', () => {
    const details = { causes: [{ reason: 'Other' }, { reason: 'NamespaceTerminating' }] };
    expect(isNamespaceTerminating(errorOf({ reason: 'Forbidden', details }))).to.equal(true);
    expect(isNamespaceTerminating(errorOf({ reason: 'Invalid', details }))).to.equal(false);
    expect(isNamespaceTerminating(errorOf({ reason: 'Forbidden' }))).to.equal(false);
  });
});

describe('the message of an ApiError', () => {
  const rows: [Status, Partial<ApiErrorContext>, string][] = [
    [{ reason: 'NotFound', message: 'no' }, { status: 404 }, 'get Pod: 404 NotFound: no'],
    [{}, { status: 500, name: 'web' }, 'get Pod web: 500: no message'],
    [{}, { text: 'proxy', namespace: 'a' }, 'get Pod a: 500: proxy'],
    [{ message: 'm' }, { namespace: '', name: 'web' }, 'get Pod web: 500: m'],
    [{ message: 'm' }, { namespace: 'a', name: 'b', text: 't' }, 'get Pod a/b: 500: m'],
    [{}, { status: 401 }, 'get Pod: 401: no message (check the credentials)'],
    [{}, { status: 403 }, 'get Pod: 403: no message (check the RBAC rules of this operator)'],
    ...[
      'admission webhook "v.example.com" denied the request: remove its label first',
      "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
      "policy 'm' with binding 'b' denied request: no such key: team",
      'policy "m" denied request: no such key: team',
      'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
      'pods "a" is forbidden: violates PodSecurity "restricted:latest": privileged',
      'pods "a" is forbidden: unable to create new content in namespace n because it is being terminated',
      'pods "a" is forbidden: error looking up service account n/s: serviceaccount "s" not found',
      'pods "a" is forbidden: no PriorityClass with name high was found',
      'pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
    ].map((message): [Status, Partial<ApiErrorContext>, string] => [
      ...([{ message }, { status: 403 }, `get Pod: 403: ${message}`] as const),
    ]),
    ...[
      'pods "a" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "n"',
      'roles.rbac.authorization.k8s.io "a" is forbidden: user "u" is attempting to grant RBAC permissions not currently held',
      'pods "a" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>',
      'pods "a" is forbidden: unable to validate against any security context constraint: []',
      'pods "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on',
    ].map((message): [Status, Partial<ApiErrorContext>, string] => [
      { message },
      { status: 403 },
      `get Pod: 403: ${message} (check the RBAC rules of this operator)`,
    ]),
    [{}, { status: 410 }, 'get Pod: 410: no message (list again)'],
    [{}, { status: 429 }, 'get Pod: 429: no message (slow down and retry)'],
  ];
  for (const [body, context, message] of rows) {
    it(`is "${message}"`, () => {
      const error = errorOf(body, context);
      expect(error).to.include({ message, code: 'ApiError', status: context.status ?? 500 });
      expect(error.context).to.deep.include(context);
      expect(error.body).to.equal(body);
    });
  }
});

describe('an ApiError about a Secret', () => {
  const why = 'the text of the answer is not shown, it can quote data of the Secret';
  const messageOf = (body: Status, context: Partial<ApiErrorContext> = {}): string | undefined =>
    errorOf(body, { kind: 'Secret', status: 422, ...context }).body.message;

  it('omits the message for the kind Secret and the plural secrets, but not in the embedded server itself', () => {
    const body = { reason: 'Invalid', message: 'data: "hunter2"' };
    for (const kind of ['Secret', 'secrets']) {
      expect(errorOf(body, { kind, status: 422 }).body).to.deep.equal({ ...body, message: why });
    }
    expect(messageOf(body, { verb: 'serve' })).to.equal(body.message);
    expect(messageOf(body, { kind: 'ConfigMap' })).to.equal(body.message);
    expect(messageOf(body, { status: 200 })).to.equal(body.message);
    expect(messageOf(body, { status: 300 })).to.equal(why);
  });

  it('omits a response body that is not a Status, and keeps verb, kind and name', () => {
    const error = errorOf({ reason: 'NotFound' }, { kind: 'Secret', name: 'db', text: 'hunter2' });
    expect(error.message).to.equal(`get Secret db: 500 NotFound: ${why}`);
    expect(error.context).to.deep.equal({
      ...{ verb: 'get', kind: 'Secret', status: 500, name: 'db', text: undefined },
    });
  });

  for (const [reason, message] of [
    ...['NotFound', 'AlreadyExists', 'Conflict', 'Gone', 'Expired', 'Unauthorized'].map((r) => [r]),
    ...['MethodNotAllowed', 'TooManyRequests', 'Timeout', 'ServerTimeout'].map((r) => [r]),
    ['ServiceUnavailable'],
    ['Forbidden', 'secrets "db" is forbidden: User "a" cannot get resource "secrets"'],
    ['Forbidden', 'secrets is forbidden: exceeded quota: q'],
  ] as [string, string?][]) {
    it(`keeps the message of ${reason}${message === undefined ? '' : `: ${message}`}`, () => {
      const text = message ?? 'the server wrote this';
      expect(messageOf({ reason, message: text })).to.equal(text);
    });
  }

  for (const [message, shown] of [
    ['secrets "db" is forbidden: the policy saw hunter2', ''],
    [
      'admission webhook "a.b" denied the request: hunter2',
      'admission webhook "a.b" denied the request; ',
    ],
    [
      `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: hunter2`,
      `ValidatingAdmissionPolicy 'p' with binding 'b' denied request; `,
    ],
    ['failed to create typed patch object (hunter2)', 'failed to create typed patch object; '],
  ] as const) {
    it(`omits the part of "${message}" that may quote data`, () => {
      expect(messageOf({ reason: 'Forbidden', message })).to.equal(`${shown}${why}`);
    });
  }

  it('omits the message of a refusal by a webhook, whatever its reason', () => {
    const message = 'admission webhook "a.b" denied the request: hunter2';
    expect(messageOf({ reason: 'Conflict', message })).to.not.contain('hunter2');
  });

  it('keeps the reasons and fields of causes, and of their messages only that a field is immutable', () => {
    const causes = [
      { reason: 'FieldValueInvalid', field: 'type', message: 'hunter2: field is immutable' },
      { field: 'data', message: 'hunter2' },
      { message: 'hunter2' },
    ];
    const { body } = errorOf(
      { reason: 'Invalid', message: 'hunter2', details: { name: 'db', causes } },
      { kind: 'Secret', status: 422 },
    );
    expect(body).to.deep.equal({
      reason: 'Invalid',
      message: `type: field is immutable; data; ${why}`,
      details: {
        name: 'db',
        causes: [
          { reason: 'FieldValueInvalid', field: 'type', message: 'field is immutable' },
          { field: 'data' },
          {},
        ],
      },
    });
  });

  it('adds no causes to details without causes', () => {
    const { body } = errorOf({ details: { name: 'db' } }, { kind: 'Secret', status: 422 });
    expect(body.details).to.deep.equal({ name: 'db' });
  });
});
