import { createHmac, createPrivateKey } from 'node:crypto';
import { connect } from 'node:tls';
import type { SecureVersion } from 'node:tls';
import { expect } from 'chai';
import { CompactSign, SignJWT } from 'jose';
import {
  ViewServer,
  everything,
  everywhere,
  group,
  healthView,
  inNamespace,
  serverKeys,
  version,
} from './view-server.js';
import type { Question, ServerKeys } from './view-server.js';

const hourMs = 3_600_000;
const good = {
  aud: 'views.operator-builder.io',
  username: 'alice',
  namespaces: ['n'],
  rules: [everything],
};

describe('the API server of views over HTTPS', () => {
  let keys: ServerKeys;
  let site: ViewServer;
  before(async () => {
    keys = await serverKeys();
  });
  beforeEach(async () => {
    site = await ViewServer.start(keys);
  });
  afterEach(() => site.stop());

  /** Signs any claims with the right key. */
  function signed(claims: object, exp?: unknown): Promise<string> {
    return new SignJWT({ ...claims, ...(exp !== undefined && { exp: exp as number }) })
      .setProtectedHeader({ alg: 'RS256' })
      .sign(createPrivateKey(keys.token.privateKey));
  }

  function seconds(offsetMs: number): number {
    return Math.floor((site.clock.now() + offsetMs) / 1000);
  }

  async function expectUnauthorized(question: Question): Promise<void> {
    const { code, body } = await site.ask(inNamespace, question);
    expect([code, body]).to.deep.equal([401, unauthorized]);
  }

  const unauthorized = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
    code: 401,
  };

  describe('when it authenticates a request', () => {
    it('answers 401 without credentials on every path', async () => {
      await expectUnauthorized({});
      for (const path of ['/api', '/apis', '/healthz', '/version', '/openapi/v3', '/nowhere']) {
        expect((await site.ask(path)).body, path).to.deep.equal(unauthorized);
      }
    });

    it('answers 401 to an authorization header with a scheme other than Bearer', async () => {
      const token = await site.token();
      for (const authorization of ['Basic YTpi', token, `Bearer`, `Bearer ${token} ${token}`]) {
        await expectUnauthorized({ headers: { authorization } });
      }
    });

    it('answers 401 as soon as a token expires', async () => {
      const token = await site.token({}, { validForMs: 60_000 });
      await site.clock.advance(59_000);
      expect((await site.ask(inNamespace, { token })).code).to.equal(200);
      await site.clock.advance(1_000);
      await expectUnauthorized({ token });
    });

    it('answers 401 before the nbf of a token', async () => {
      const token = await signed({ ...good, nbf: seconds(hourMs) }, seconds(2 * hourMs));
      await expectUnauthorized({ token });
      await site.clock.advance(hourMs);
      expect((await site.ask(inNamespace, { token })).code).to.equal(200);
    });

    it('answers 401 to a token signed with another key', async () => {
      const token = await new SignJWT(good)
        .setProtectedHeader({ alg: 'RS256' })
        .setExpirationTime(seconds(hourMs))
        .sign(createPrivateKey(keys.tls.privateKey));
      await expectUnauthorized({ token });
    });

    it('answers 401 to a token with changed claims', async () => {
      const [head = '', payload = '', signature = ''] = (await site.token()).split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
      const more = encoded({ ...claims, namespaces: ['*'] });
      await expectUnauthorized({ token: [head, more, signature].join('.') });
    });

    const unsigned = {
      'no algorithm': () => '',
      'an HMAC by the public key': (text: string, { token }: ServerKeys) =>
        createHmac('sha256', token.publicKey).update(text).digest('base64url'),
    };
    for (const [what, sign] of Object.entries(unsigned)) {
      it(`answers 401 to a token signed with ${what}`, async () => {
        const alg = what.startsWith('no') ? 'none' : 'HS256';
        const claims = { ...good, exp: seconds(hourMs) };
        const text = `${encoded({ alg, typ: 'JWT' })}.${encoded(claims)}`;
        await expectUnauthorized({ token: `${text}.${sign(text, keys)}` });
      });
    }

    it('answers 401 to a token with alg RS384 and the right key', async () => {
      const token = await new SignJWT(good)
        .setProtectedHeader({ alg: 'RS384' })
        .setExpirationTime(seconds(hourMs))
        .sign(createPrivateKey(keys.token.privateKey));
      await expectUnauthorized({ token });
    });

    const malformed: Record<string, [claims: object, exp?: unknown]> = {
      'no exp': [good],
      'an exp that is a string': [good, '9999999999'],
      'no username': [{ ...good, username: undefined }, 9_999_999_999],
      'an empty username': [{ ...good, username: '' }, 9_999_999_999],
      'no namespaces': [{ ...good, namespaces: undefined }, 9_999_999_999],
      'namespaces that are a string': [{ ...good, namespaces: '*' }, 9_999_999_999],
      'no rules': [{ ...good, rules: undefined }, 9_999_999_999],
      'rules that are an object': [{ ...good, rules: everything }, 9_999_999_999],
      'a rule without verbs': [{ ...good, rules: [{ apiGroups: ['*'] }] }, 9_999_999_999],
      'a rule with a string instead of a list': [
        { ...good, rules: [{ ...everything, resources: '*' }] },
        9_999_999_999,
      ],
    };
    for (const [what, [claims, exp]] of Object.entries(malformed)) {
      it(`answers 401 to a token with ${what}`, async () => {
        await expectUnauthorized({ token: await signed(claims, exp) });
      });
    }

    it('answers 401 to a token with an infinite exp', async () => {
      const claims = JSON.stringify({ ...good, exp: 0 }).replace('"exp":0', '"exp":1e999');
      const token = await new CompactSign(Buffer.from(claims))
        .setProtectedHeader({ alg: 'RS256' })
        .sign(createPrivateKey(keys.token.privateKey));
      await expectUnauthorized({ token });
    });

    it('answers 401 to malformed tokens', async () => {
      for (const token of ['x', 'a.b.c', '...', '{}.{}.', 'x'.repeat(8_000)]) {
        await expectUnauthorized({ token });
      }
    });

    it('answers 401 before it reads the body', async () => {
      const body = `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`;
      expect((await site.ask(inNamespace, { method: 'POST', body })).code).to.equal(401);
    });
  });

  it("answers 403 in a namespace outside the token's namespaces", async () => {
    const token = await site.token();
    const { code, body } = await site.ask(inNamespace.replace('/n/', '/m/'), { token });
    expect(code).to.equal(403);
    const who = `User "alice" cannot list resource "healthview" in API group "${group}"`;
    const why = 'the token is for the namespaces "n"';
    expect(body).to.deep.equal({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `healthview.${group} is forbidden: ${who} in the namespace "m": ${why}`,
      reason: 'Forbidden',
      details: { group, kind: 'healthview' },
      code: 403,
    });
  });

  it('answers 403 to a list or watch of all namespaces unless the token is for *', async () => {
    const [some, all] = [await site.token(), await site.token({ namespaces: ['*'] })];
    const who = `User "alice" cannot list resource "healthview" in API group "${group}"`;
    const { code, body } = await site.ask(everywhere, { token: some });
    expect([code, body.message]).to.deep.equal([
      403,
      `healthview.${group} is forbidden: ${who} at the cluster scope: the token is for the namespaces "n"`,
    ]);
    expect((await site.ask(`${everywhere}?watch=1`, { token: some })).code).to.equal(403);
    const names = (await site.ask(everywhere, { token: all })).body.items.map(
      ({ metadata }) => metadata.name,
    );
    expect(names).to.have.members(['a', 'b']);
  });

  it('rejects a write if the namespaces in the body and in the path differ, or if the path has no namespace', async () => {
    const token = await site.token();
    const post = { token, method: 'POST', body: healthView('z', 'm') } as const;
    expect((await site.ask(inNamespace, post)).code).to.equal(400);
    for (const path of [everywhere, `${everywhere}?namespace=n`]) {
      expect((await site.ask(path, post)).code, path).to.equal(403);
      expect((await site.ask(path, { ...post, body: healthView('z') })).code, path).to.equal(403);
    }
    expect((await site.ask(`${everywhere}/a`, { token })).code).to.equal(403);
  });

  it('answers 403 with the message of Kubernetes to a verb that no rule allows', async () => {
    const rules = [{ verbs: ['get', 'list'], apiGroups: [group], resources: ['healthview'] }];
    const token = await site.token({ rules });
    expect((await site.ask(`${inNamespace}/a`, { token })).code).to.equal(200);
    const { code, body } = await site.ask(`${inNamespace}/a`, { token, method: 'DELETE' });
    const who = `User "alice" cannot delete resource "healthview" in API group "${group}"`;
    expect([code, body.message]).to.deep.equal([
      403,
      `healthview.${group} "a" is forbidden: ${who} in the namespace "n"`,
    ]);
    expect((await site.ask(`${inNamespace}?watch=1`, { token })).code).to.equal(403);
    expect((await site.ask(`${inNamespace}/a`)).code).to.equal(401);
  });

  const rules: [string, object, boolean][] = [
    ['this group', { apiGroups: [group] }, true],
    ['views of all operators', { apiGroups: ['*.view.dcontroller.io'] }, true],
    ['another group', { apiGroups: ['x.view.dcontroller.io'] }, false],
    [
      'the end of a group name only',
      { apiGroups: ['*.dcontroller.com', 'hop.view.dcontroller.io'] },
      false,
    ],
    ['another resource', { resources: ['other'] }, false],
    ['this name', { resourceNames: ['a'] }, true],
    ['another name', { resourceNames: ['b'] }, false],
  ];
  for (const [what, part, allowed] of rules) {
    it(`${allowed ? 'allows' : 'refuses'} a get by a rule of the token for ${what}`, async () => {
      const token = await site.token({ rules: [{ ...everything, ...part }] });
      const { code } = await site.ask(`${inNamespace}/a`, { token });
      expect(code).to.equal(allowed ? 200 : 403);
    });
  }

  it('allows only discovery to a token without rules or namespaces', async () => {
    for (const claims of [{ rules: [] }, { namespaces: [] }]) {
      const token = await site.token(claims);
      expect((await site.ask(inNamespace, { token })).code).to.equal(403);
      for (const path of [
        '/api',
        '/apis',
        `/apis/${group}`,
        '/openapi/v3',
        '/version',
        '/readyz',
      ]) {
        expect((await site.ask(path, { token })).code, path).to.equal(200);
      }
    }
  });

  it('answers 403 to paths outside of discovery unless a rule of the token allows them', async () => {
    const token = await site.token({ rules: [] });
    const { code, body } = await site.ask('/metrics', { token });
    const message = 'forbidden: User "alice" cannot get path "/metrics"';
    expect([code, body.message]).to.deep.equal([403, message]);
    const able = await site.token({ rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }] });
    expect((await site.ask('/metrics', { token: able })).code).to.equal(404);
  });

  it('answers 403 to a request with impersonation headers, whatever the rules of the token allow', async () => {
    const token = await site.token({ namespaces: ['*'] });
    const headers = { 'impersonate-user': 'bob' };
    const { code, body } = await site.ask(everywhere, { token, headers });
    const who = 'User "alice" cannot impersonate resource "users" in API group ""';
    expect([code, body.message]).to.deep.equal([
      403,
      `users "bob" is forbidden: ${who} at the cluster scope`,
    ]);
  });

  describe('when it answers access reviews', () => {
    const reviews = '/apis/authorization.k8s.io/v1';
    const rules = [{ verbs: ['get'], apiGroups: [group], resources: ['*'] }];

    async function canI(resourceAttributes: object): Promise<unknown> {
      const body = {
        ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
        spec: { resourceAttributes: { group, resource: 'healthview', ...resourceAttributes } },
      };
      const path = `${reviews}/selfsubjectaccessreviews`;
      const reply = await site.ask(path, {
        ...{ method: 'POST', token: await site.token({ rules }), body },
      });
      expect(reply.code).to.equal(201);
      return reply.body['status'];
    }

    it('answers SelfSubjectAccessReview by the rules of the token, with the reason', async () => {
      expect(await canI({ verb: 'get', namespace: 'n' })).to.deep.equal({ allowed: true });
      expect(await canI({ verb: 'delete', namespace: 'n' })).to.deep.equal({ allowed: false });
      expect(await canI({ verb: 'get', namespace: 'm' })).to.deep.equal({
        ...{ allowed: false, reason: 'the token is for the namespaces "n"' },
      });
      expect(await canI({ verb: 'get' })).to.have.property('allowed', false);
    });

    it('answers SelfSubjectRulesReview with a list of rules', async () => {
      interface Rules {
        readonly resourceRules: readonly object[];
        readonly nonResourceRules: readonly { readonly nonResourceURLs: readonly string[] }[];
      }
      const listed = async (namespace: string): Promise<Rules> => {
        const token = await site.token({ rules });
        const body = {
          ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview' },
          spec: { namespace },
        };
        const path = `${reviews}/selfsubjectrulesreviews`;
        const reply = await site.ask(path, { method: 'POST', token, body });
        return reply.body['status'] as Rules;
      };
      expect((await listed('n')).resourceRules).to.deep.include(rules[0]);
      const { resourceRules, nonResourceRules } = await listed('m');
      expect(resourceRules).not.to.deep.include(rules[0]);
      expect(resourceRules).to.deep.include({
        ...{ verbs: ['create'], apiGroups: ['authentication.k8s.io'] },
        resources: ['selfsubjectreviews'],
      });
      expect(nonResourceRules[0]?.nonResourceURLs).to.include.members(['/apis/*', '/version']);
    });

    it('answers SelfSubjectReview with the username', async () => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const reply = await site.ask(path, { method: 'POST', token: await site.token(), body });
      const shown = { userInfo: { username: 'alice', groups: ['system:authenticated'] } };
      expect(reply.body).to.have.property('status').that.deep.equals(shown);
    });

    it('refuses reviews of the access of other users', async () => {
      const body = {
        ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' },
        spec: { user: 'bob', resourceAttributes: { verb: 'get', resource: 'healthview' } },
      };
      const path = `${reviews}/subjectaccessreviews`;
      const reply = await site.ask(path, { method: 'POST', token: await site.token(), body });
      expect(reply.code).to.equal(403);
      const all = await site.token({ namespaces: ['*'] });
      expect((await site.ask(path, { method: 'POST', token: all, body })).code).to.equal(404);
    });
  });

  it('requires no token from the in-process client of the views', async () => {
    const list = await site.views.client.list({ apiVersion: version, kind: 'HealthView' });
    expect(list.items).to.have.lengthOf(2);
  });

  it('ends a watch when the token of its client expires', async () => {
    const token = await site.token({}, { validForMs: 600_000 });
    const next = await site.watch(`${inNamespace}?watch=1`, { token });
    expect(await next()).to.equal('ADDED a');
    await site.views.client.create(healthView('c'));
    expect(await next()).to.equal('ADDED c');
    await site.clock.advance(599_000);
    expect(site.views.server.openWatches).to.equal(1);
    await site.clock.advance(1_000);
    expect(await next()).to.equal(undefined);
    expect(site.views.server.openWatches).to.equal(0);
  });

  it('creates and deletes views for a token with the verbs create and delete', async () => {
    const token = await site.token();
    const created = await site.ask(inNamespace, { token, method: 'POST', body: healthView('z') });
    expect(created.code).to.equal(201);
    const deleted = await site.ask(`${inNamespace}/z`, { token, method: 'DELETE' });
    expect(deleted.code).to.equal(200);
  });

  const protocols: [SecureVersion, string][] = [
    ['TLSv1.3', 'TLSv1.3'],
    ['TLSv1.2', 'TLSv1.2'],
    ['TLSv1.1', 'refused'],
  ];
  for (const [offered, outcome] of protocols) {
    it(`${outcome === 'refused' ? 'refuses' : 'accepts'} a client that offers only ${offered}`, async () => {
      expect(await handshake(site.server.url, keys, offered)).to.equal(outcome);
    });
  }
});

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function handshake(url: string, keys: ServerKeys, offered: SecureVersion): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({
      port: Number(new URL(url).port),
      host: '127.0.0.1',
      ca: keys.tls.certificate,
      minVersion: offered,
      maxVersion: offered,
      // At the default level the client does not even offer the old versions.
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    socket.once('secureConnect', () => {
      resolve(socket.getProtocol() ?? '');
      socket.destroy();
    });
    socket.once('error', () => resolve('refused'));
  });
}
