import { expect } from 'chai';
import { proxyFromEnvironment } from '../../lib/client/kube-config.js';

const proxy = 'http://proxy.example:3128';

describe('proxyFromEnvironment', () => {
  it("reads the variable of the server's scheme, upper case before lower case", () => {
    const env = { HTTPS_PROXY: proxy, https_proxy: 'http://lower:1', http_proxy: 'http://plain:2' };
    expect(proxyFromEnvironment('https://api.example', env)).to.equal(proxy);
    expect(proxyFromEnvironment('http://api.example', env)).to.equal('http://plain:2');
    expect(proxyFromEnvironment('https://api.example', { HTTP_PROXY: proxy })).to.equal(undefined);
  });

  it('ignores an empty variable', () => {
    const env = { HTTPS_PROXY: '', https_proxy: proxy };
    expect(proxyFromEnvironment('https://api.example', env)).to.equal(proxy);
    expect(proxyFromEnvironment('https://api.example', { https_proxy: '' })).to.equal(undefined);
  });

  it('treats a host and port as an HTTP proxy', () => {
    const env = { HTTPS_PROXY: 'proxy.example:3128' };
    expect(proxyFromEnvironment('https://api.example', env)).to.equal(proxy);
  });

  for (const server of ['https://localhost:6443', 'https://127.0.0.1', 'https://[::1]:6443']) {
    it(`returns no proxy for ${server}`, () => {
      expect(proxyFromEnvironment(server, { HTTPS_PROXY: proxy })).to.equal(undefined);
    });
  }

  const cases: readonly (readonly [noProxy: string, server: string, isDirect: boolean])[] = [
    ['*', 'https://api.example', true],
    ['api.example', 'https://api.example', true],
    ['API.Example', 'https://api.example', true],
    ['example', 'https://api.example', true],
    ['.example', 'https://api.example', true],
    ['*.example', 'https://api.example', true],
    ['ple', 'https://api.example', false],
    ['.api.example', 'https://api.example', false],
    ['*.api.example', 'https://api.example', false],
    ['other, api.example ', 'https://api.example', true],
    ['api.example:443', 'https://api.example', true],
    ['api.example:6443', 'https://api.example', false],
    ['api.example:80', 'http://api.example', true],
    ['10.0.0.0/8', 'https://10.96.0.1', true],
    ['10.0.0.0/8', 'https://11.0.0.1', false],
    ['10.0.0.0/33', 'https://10.96.0.1', false],
    ['fd00::/8', 'https://[fd00::1]:6443', true],
    ['10.96.0.1', 'https://10.96.0.1:6443', true],
    ['10.96.0.1:443', 'https://10.96.0.1:6443', false],
    ['[fd00::1]:6443', 'https://[fd00:0::1]:6443', true],
    ['fd00::1', 'https://[fd00::1]:6443', true],
    ['bücher.example', 'https://xn--bcher-kva.example', true],
    ['', 'https://api.example', false],
    [',:443,/8,.', 'https://api.example', false],
  ];
  for (const [noProxy, server, isDirect] of cases) {
    it(`with NO_PROXY=${noProxy || "''"} ${isDirect ? 'bypasses' : 'uses'} the proxy for ${server}`, () => {
      const env = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, no_proxy: noProxy };
      expect(proxyFromEnvironment(server, env)).to.equal(isDirect ? undefined : proxy);
    });
  }

  it('rejects an invalid proxy without repeating its value', () => {
    const take = () =>
      proxyFromEnvironment('https://api.example', { HTTPS_PROXY: 'ftp://user:secret@proxy' });
    expect(take).to.throw('HTTPS_PROXY').with.property('code', 'InvalidOption');
    expect(take).not.to.throw('secret');
  });
});
