import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createToken } from '../../../lib/declarative/api-server/index.js';
import type { TokenClaims, TokenOptions } from '../../../lib/declarative/api-server/index.js';
import { TokenAuthorizer } from '../../../lib/declarative/api-server/tokens.js';
import type { RsaKeys } from '../../../lib/system/x509.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { serverKeys } from './view-server.js';

const rules = [{ verbs: ['get'], apiGroups: ['*'], resources: ['*'], resourceNames: ['a'] }];
const claims: TokenClaims = { username: 'alice', namespaces: ['n'], rules };

describe('createToken', () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  let keys: RsaKeys;
  before(async () => {
    keys = (await serverKeys()).token;
  });

  function create(
    changed: Partial<Record<keyof TokenClaims, unknown>> = {},
    options: TokenOptions & { readonly key?: string } = {},
  ): Promise<string> {
    const { key = keys.privateKey, ...rest } = options;
    return createToken({ ...claims, ...changed } as TokenClaims, key, { clock, ...rest });
  }

  it('sets username, namespaces, rules and expiry as claims, and nothing else', async () => {
    const token = await create();
    const iat = Date.UTC(2026, 0, 1) / 1000;
    const { kid, ...header } = decodeProtectedHeader(token);
    expect(header).to.deep.equal({ alg: 'RS256', typ: 'JWT' });
    expect(kid).to.match(/^[\w-]{16}$/);
    const aud = 'views.operator-builder.io';
    expect(decodeJwt(token)).to.deep.equal({ ...claims, aud, iat, exp: iat + 86_400 });
    const short = await create({}, { validForMs: 60_999 });
    expect(decodeJwt(short).exp).to.equal(iat + 60);
  });

  const form =
    'want an object with verbs, and lists of strings for apiGroups, resources, resourceNames, nonResourceURLs';
  const names = 'token: want namespaces, a list of names ("*" for all of them)';
  const user = 'token: want a username, a string that is not empty';
  const wrong: [string, Parameters<typeof create>, string][] = [
    ['a missing username', [{ username: undefined }], user],
    ['an empty username', [{ username: '' }], user],
    ['a string for namespaces', [{ namespaces: '*' }], names],
    ['an empty namespace', [{ namespaces: ['a', ''] }], names],
    ['a namespace that is a number', [{ namespaces: [1] }], names],
    ['missing rules', [{ rules: undefined }], 'token: want rules, a list of rules of a Role'],
    ['a rule that is a string', [{ rules: ['get'] }], `token: rules[0]: ${form}`],
    [
      'a rule without verbs',
      [{ rules: [rules[0], { resources: ['*'] }] }],
      `token: rules[1]: ${form}`,
    ],
    ['an empty verb', [{ rules: [{ verbs: [''] }] }], `token: rules[0]: ${form}`],
    ...['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'].map(
      (name): (typeof wrong)[number] => [
        `a string for ${name}`,
        [{ rules: [{ verbs: ['get'], [name]: 'a' }] }],
        `token: rules[0]: ${form}`,
      ],
    ),
    [
      'a validity below one second',
      [{}, { validForMs: 999 }],
      'token: want validForMs >= 1000, got 999',
    ],
    [
      'an infinite validity',
      [{}, { validForMs: Infinity }],
      'token: want validForMs >= 1000, got Infinity',
    ],
    ['an invalid key', [{}, { key: 'x' }], 'the key that signs tokens: want a key in PEM'],
  ];
  for (const [what, args, message] of wrong) {
    it(`refuses ${what}`, async () => {
      const error: unknown = await create(...args).catch((reason: unknown) => reason);
      expect(error).to.deep.include({ code: 'InvalidOption', message });
    });
  }

  it('accepts a validity of one second, an empty list of namespaces, and rules for the core group', async () => {
    const iat = Date.UTC(2026, 0, 1) / 1000;
    const least = { namespaces: [], rules: [{ verbs: ['get'], apiGroups: [''] }] };
    const token = decodeJwt(await create(least, { validForMs: 1_000 }));
    expect(token).to.deep.include({ ...least, exp: iat + 1 });
  });

  it('refuses to sign with a public key', async () => {
    const error: unknown = await create({}, { key: keys.publicKey }).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.have.property('code', 'InvalidOption');
  });
});

describe('TokenAuthorizer', () => {
  const group = 'op.view.dcontroller.io';
  const asked = {
    verb: 'get',
    group,
    resource: 'things',
    subresource: '',
    namespace: 'n',
    name: 'a',
  };
  const rule = { verbs: ['get'], apiGroups: ['*.view.dcontroller.io'], resources: ['*'] };
  const paths = { verbs: ['get'], nonResourceURLs: ['/metrics'] };
  const authorizer = (namespaces: readonly string[]): TokenAuthorizer =>
    new TokenAuthorizer({ username: 'alice', namespaces, rules: [rule, paths] });
  const user = { username: 'alice', groups: [] };
  const decided = (namespaces: readonly string[], more: object): string => {
    const { allowed, reason } = authorizer(namespaces).authorize(user, { ...asked, ...more });
    return allowed ? 'allowed' : reason;
  };
  const path = (of: string, verb = 'get'): object => ({ path: of, verb, group: '', namespace: '' });

  for (const [namespaces, more, decision] of [
    [['n'], {}, 'allowed'],
    [['m', 'n'], {}, 'allowed'],
    [['*'], {}, 'allowed'],
    [['*'], { namespace: '' }, 'allowed'],
    [['n'], { namespace: '' }, 'the token is for the namespaces "n"'],
    [['n', 'o'], { namespace: 'm' }, 'the token is for the namespaces "n", "o"'],
    [[], {}, 'the token is for no namespace'],
    [['n'], { verb: 'list' }, ''],
    [['*'], { group: 'view.dcontroller.io' }, ''],
    [['*'], { group: 'apps' }, ''],
    [['*'], { group: 'a.b.view.dcontroller.io' }, 'allowed'],
    [['*'], { verb: 'impersonate', resource: 'users', group: '' }, ''],
    [[], path('/api'), 'allowed'],
    [[], path('/apis/apps/v1'), 'allowed'],
    [[], path('/openapi/v3'), 'allowed'],
    [[], path('/readyz'), 'allowed'],
    [[], path('/livez'), 'allowed'],
    [[], path('/healthz'), 'allowed'],
    [[], path('/version'), 'allowed'],
    [[], path('/version', 'post'), ''],
    [[], path('/versions'), ''],
    [[], path('/apiserver'), ''],
    [[], path('/metrics'), 'allowed'],
    [[], path('/metrics', 'post'), ''],
    [
      [],
      { verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectrulesreviews' },
      'allowed',
    ],
  ] as const) {
    it(`answers "${decision}" to ${JSON.stringify(more)} for a token with the namespaces [${namespaces.join()}]`, () => {
      expect(decided(namespaces, more)).to.equal(decision);
    });
  }

  it('lists for a namespace the rules of the token, its rules for paths, and the rules that all users have', () => {
    const everybody = [
      {
        ...{ verbs: ['create'], apiGroups: ['authorization.k8s.io'] },
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      {
        ...{ verbs: ['create'], apiGroups: ['authentication.k8s.io'] },
        resources: ['selfsubjectreviews'],
      },
      {
        verbs: ['get'],
        nonResourceURLs: [
          ...['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'],
          ...['/healthz', '/livez', '/readyz', '/version'],
        ],
      },
    ];
    const of = authorizer(['n']);
    expect(of.rulesFor(user, 'n')).to.deep.equal([rule, paths, ...everybody]);
    const elsewhere = [{ verbs: ['get'], nonResourceURLs: [] }, paths, ...everybody];
    expect(of.rulesFor(user, 'm')).to.deep.equal(elsewhere);
  });
});
