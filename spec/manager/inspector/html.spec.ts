import { expect } from 'chai';
import fc from 'fast-check';
import { escapeHtml, html, trusted } from '../../../lib/manager/inspector/html.js';
import { tries } from '../../sample.js';

const names: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#96;': '`',
};

/** Decodes markup as a browser does. */
function read(markup: string): string {
  return markup.replaceAll(/&[^;]+;/g, (name) => names[name] ?? name);
}

describe('The template tag html', () => {
  it('escapes every value in texts and attributes', () => {
    const value = `<b>&"'\``;
    expect(html`<a href="${value}">${value}</a>`.text).to.equal(
      '<a href="&lt;b&gt;&amp;&quot;&#39;&#96;">&lt;b&gt;&amp;&quot;&#39;&#96;</a>',
    );
  });

  it('joins the items of a list, omits undefined, and does not escape markup marked as trusted', () => {
    const items = ['<', 2, html`<i>${'>'}</i>`, undefined, trusted('<hr>')];
    expect(html`${items}`.text).to.equal('&lt;2<i>&gt;</i><hr>');
  });

  it('rejects an object that has the form of trusted markup but was not created by trusted', () => {
    const forged = { text: '<script>' } as never;
    expect(() => html`${forged}`.text).to.throw(TypeError);
  });

  it('escapes texts so that a browser shows the same text and finds no markup in it', () => {
    const hostile = fc.array(fc.constantFrom('<', '>', '&', '"', "'", '`', '&lt;', 'a', ' ', ';'));
    const property = fc.property(
      fc.oneof(
        fc.string(),
        hostile.map((parts) => parts.join('')),
      ),
      (text) => {
        const escaped = escapeHtml(text);
        expect(escaped).to.not.match(/[<>"'`]/);
        expect(read(escaped)).to.equal(text.replaceAll(/[^\P{Cc}\t\n]/gu, '\ufffd'));
      },
    );
    fc.assert(property, { numRuns: tries(1_000) });
  });

  it('replaces control characters that make a name look like another', () => {
    expect(escapeHtml('a\u202eb\u2066c\u0000d\u0085e\tf\n')).to.equal(
      'a\ufffdb\ufffdc\ufffdd\ufffde\tf\n',
    );
  });
});
