import { expect } from 'chai';
import { websiteProblem } from '../../lib/system/website-guard.js';

describe('the guard of a local server against requests of websites', () => {
  const allowed = new Set(['api.corp.example']);
  const good = [
    ...['localhost', 'LOCALHOST:8082', 'a.localhost:80', '127.0.0.1:8082', '10.1.2.3'],
    ...['[::1]:8082', 'api.corp.example', 'Api.Corp.Example:80', 'localhost.'],
  ];
  const bad = [
    ...['', 'evil.example', 'evil.example:8082', 'localhost.evil.example', 'notlocalhost'],
    ...['localhost@evil.example', 'evil.example#localhost', 'evil.example/localhost', '[::1'],
    ...['127.0.0.1.evil.example', 'localhost evil', 'corp.example', '%31evil'],
  ];
  for (const host of good) {
    it(`allows requests to the host ${host}`, () => {
      expect(websiteProblem({ headers: { host } }, allowed)).to.equal(undefined);
    });
  }
  for (const host of bad) {
    it(`rejects requests to the host ${JSON.stringify(host)}`, () => {
      const problem = `host ${JSON.stringify(host)} is not allowed`;
      expect(websiteProblem({ headers: { host } }, allowed)).to.include(problem);
    });
  }

  const problemOf = (headers: Record<string, string>, options = {}): string | undefined =>
    websiteProblem({ headers: { host: 'localhost:81', ...headers } }, allowed, options);

  it('allows requests of programs and of web pages of the same origin', () => {
    expect(problemOf({})).to.equal(undefined);
    expect(problemOf({ 'sec-fetch-site': 'none' })).to.equal(undefined);
    expect(problemOf({ 'sec-fetch-site': 'same-origin' })).to.equal(undefined);
    expect(problemOf({ origin: 'http://localhost:81' })).to.equal(undefined);
  });

  it('rejects requests of web pages of another origin', () => {
    const headers = [
      ...[{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }],
      ...[
        { origin: 'http://localhost:82' },
        { origin: 'null' },
        { origin: 'https://evil.example' },
      ],
    ];
    for (const each of headers) expect(problemOf(each)).to.include('another origin');
  });

  it('allows a link from another website only with the option links, and never a frame', () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const page = { ...link, 'sec-fetch-dest': 'document' };
    expect(problemOf(page, { links: true })).to.equal(undefined);
    expect(problemOf(page)).to.include('another origin');
    const frame = { ...link, 'sec-fetch-dest': 'iframe' };
    expect(problemOf(frame, { links: true })).to.include('another origin');
  });
});
