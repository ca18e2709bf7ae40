import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { defaultUserAgent, packageVersion } from '../../lib/client/client-options.js';

describe('the user agent', () => {
  it('contains the version of package.json', () => {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    expect(packageVersion).to.equal((JSON.parse(text) as { version: string }).version);
  });

  it('begins with the name that the server uses as field manager', () => {
    expect(defaultUserAgent()).to.match(/^operator-builder\/\d+\.\d+\.\d+ \(\w+\/\w+\) node\/\d+$/);
  });
});
