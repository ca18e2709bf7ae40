import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { createClient } from '../../lib/client/index.js';
import { impersonationSuite, userOf } from './impersonation-suite.js';
import { scripted } from './scripted-transport.js';

describe('impersonation', () => {
  describe('on the embedded server over HTTP', () => {
    let cluster: EmbeddedCluster;
    before(async () => {
      cluster = await EmbeddedCluster.start({ rbac: true, port: 0 });
    });
    after(() => cluster.stop());
    impersonationSuite(async () => cluster.kubeConfig());
  });

  it('works for a client in the same process as its embedded server', async () => {
    const cluster = await EmbeddedCluster.start({ rbac: true });
    const impersonate = {
      ...{ user: 'Zoë', groups: ['devs', 'ops'], extra: { scopes: ['a', 'b'] } },
    };
    expect(await userOf(cluster.client({ impersonate }))).to.deep.equal({
      ...{ username: 'Zoë', groups: ['devs', 'ops', 'system:authenticated'] },
      extra: { scopes: ['a', 'b'] },
    });
    await cluster.stop();
  });

  const text = 'want text without control characters and surrounding spaces';
  for (const [impersonate, problem] of [
    [{}, `user: ${text}, got undefined`],
    [{ user: '' }, `user: ${text}, got ""`],
    [{ user: 'jane\r\nx-remote-user: root' }, `user: ${text}, got "jane\\r\\nx-remote-user: root"`],
    [{ user: 'jane ' }, `user: ${text}, got "jane "`],
    [{ user: 'jane', uid: 'a\0b' }, `uid: ${text}, got "a\\u0000b"`],
    [{ user: 'jane', groups: 'devs' }, `groups: want a list, got "devs"`],
    [{ user: 'jane', groups: ['devs', ''] }, `groups: ${text}, got ""`],
    [{ user: 'jane', extra: null }, `extra: want an object of lists, got null`],
    [{ user: 'jane', extra: ['a'] }, `extra: want an object of lists, got ["a"]`],
    [{ user: 'jane', extra: { a: 'b' } }, `extra: want an object of lists, got {"a":"b"}`],
    [{ user: 'jane', extra: { a: ['b\n'] } }, `extra: ${text}, got "b\\n"`],
    [{ user: 'jane', extra: { 'a\ud800': ['b'] } }, `extra: ${text}, got "a\\ud800"`],
    [{ user: 'jane', group: ['devs'] }, `unknown option "group"; did you mean "groups"?`],
  ] as const) {
    it(`is refused with ${JSON.stringify(impersonate)}`, () => {
      const { transport } = scripted(() => ({ json: {} }));
      expect(() => createClient({ transport, impersonate: impersonate as never }))
        .to.throw(`client options: impersonate: ${problem}`)
        .with.property('code', 'InvalidOption');
    });
  }
});
