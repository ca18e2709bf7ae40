import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { errorCodes } from '../../lib/system/operator-error.js';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

const rows = [...page.matchAll(/^\| `(\w+)`\s*\|([^|\n]*)\|([^|\n]*)\|$/gm)];

describe('the error codes of OperatorError', () => {
  it('are the codes in docs/errors.md, in the same order', () => {
    expect(rows.map(([, code]) => code)).to.deep.equal([...errorCodes]);
  });

  it('each have a meaning and a remedy', () => {
    for (const [, code, meaning = '', remedy = ''] of rows) {
      expect(meaning.trim(), code).to.match(/^[A-Z].*\.$/);
      expect(remedy.trim(), code).to.match(/^[A-Z].*\.$/);
    }
  });

  it('are CamelCase, each listed once', () => {
    expect(new Set(errorCodes).size).to.equal(errorCodes.length);
    for (const code of errorCodes) expect(code).to.match(/^([A-Z][a-z]+)+$/);
  });
});
