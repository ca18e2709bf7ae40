import { expect } from 'chai';
import fc from 'fast-check';
import { parseAllDocuments, stringify } from 'yaml';
import { isDeeperThan, maxDepth } from '../../lib/object/depth.js';
import { checkYamlDepth } from '../../lib/object/yaml-documents.js';
import { tries } from '../sample.js';

const indented = (levels: number, entry: string): string =>
  Array.from({ length: levels }, (_, level) => ' '.repeat(level) + entry).join('\n');

function verdict(text: string): string {
  try {
    checkYamlDepth(text, 'file');
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** Returns how deeply a text nests, if it is shallow enough to parse. */
function depthOf(text: string): number {
  const values = [parseAllDocuments(text)].flat().map((document): unknown => document.toJS());
  let depth = 0;
  while (values.some((value) => isDeeperThan(value, depth))) depth++;
  return depth;
}

describe('checkYamlDepth', () => {
  const forms: Record<string, (levels: number) => string> = {
    'flow sequences': (n) => '['.repeat(n) + ']'.repeat(n),
    'flow sequences that are not closed': (n) => '['.repeat(n),
    'flow mappings that are not closed': (n) => '{'.repeat(n),
    'flow mappings': (n) => `${'{a: '.repeat(n)}1${'}'.repeat(n)}`,
    'pairs in flow sequences': (n) => `${'[a: '.repeat(n / 2)}1${']'.repeat(n / 2)}`,
    'explicit pairs in flow sequences over many lines': (n) =>
      `${'[\n? a\n:\n'.repeat(n / 2)}1${']'.repeat(n / 2)}`,
    'flow sequences over many lines': (n) => '[\n'.repeat(n) + ']\n'.repeat(n),
    'sequences on one line': (n) => `${'- '.repeat(n)}a`,
    'mappings on one line': (n) => `${'? '.repeat(n)}a`,
    'indented mappings': (n) => indented(n, 'a:'),
    'indented mappings with long keys': (n) => indented(n, 'some-long-key:'),
    'indented sequences': (n) => indented(n, '-'),
    'sequences at the column of their key': (n) =>
      Array.from({ length: n / 2 }, (_, level) => {
        const indent = ' '.repeat(level * 2);
        return `${level === 0 ? '' : `${' '.repeat(level * 2 - 2)}- `}a:`.padEnd(indent.length);
      }).join('\n'),
    'sequences around a block scalar': (n) => {
      const outer = '- '.repeat(n / 2);
      return `${outer}- |\n${' '.repeat(n + 2)}text\n${' '.repeat(n)}${'- '.repeat(n / 2)}a`;
    },
    'a document after another': (n) => `a: 1\n---\n${'['.repeat(n)}${']'.repeat(n)}`,
  };
  for (const [name, form] of Object.entries(forms)) {
    it(`rejects ${name} from ${maxDepth + 1} levels`, () => {
      expect(verdict(form(maxDepth - 2))).to.equal('ok');
      expect(verdict(form(maxDepth + 4))).to.equal('TooDeep');
      expect(verdict(form(2_000))).to.equal('TooDeep');
    });
  }

  it('accepts many brackets that are not nested', () => {
    const many = '['.repeat(5_000);
    const texts = [`a: "${many}"`, `# ${many}\na: 1`, `a: |\n  ${many}\n`, 'a: []\n'.repeat(999)];
    for (const text of texts) expect(verdict(text)).to.equal('ok');
    expect(verdict('- - a\n'.repeat(999))).to.equal('ok');
    expect(verdict('a:\n- b:\n  - c\n'.repeat(999))).to.equal('ok');
  });

  it('accepts the YAML text of every value with fewer levels than the limit', () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 8 }, fc.string(), fc.integer(), tie('list'), tie('map')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      map: fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
    }));
    const property = fc.property(value, fc.integer({ min: 1, max: 4 }), (any, indent) => {
      const text = stringify(any, { indent });
      // The comments contain so many `-` that not only characters are counted, but tokens.
      expect(verdict(`${'# -\n'.repeat(maxDepth)}${text}`)).to.equal('ok');
      expect(depthOf(text)).to.be.at.most(maxDepth);
    });
    fc.assert(property, { numRuns: tries(200) });
  });

  it('counts the levels of a text exactly', () => {
    const scalar = fc.constantFrom('text', 'a: b', '- c', '? d', '[e', '', 1, null, 'two\nlines\n');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, scalar, tie('list'), tie('map')),
      list: fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
      map: fc.dictionary(fc.constantFrom('a', 'bc', '- d'), tie('value'), { minKeys: 1 }),
    }));
    const wrap = fc.constantFrom<(inner: unknown) => unknown>(
      (a) => [a],
      (a) => ({ a, b: 1 }),
    );
    const property = fc.property(value, fc.array(wrap, { minLength: 1 }), (inner, wraps) => {
      const text = (levels: number): string => {
        let nested = inner;
        for (let depth = levelsOf(inner), at = 0; depth < levels; depth++, at++) {
          nested = wraps[at % wraps.length]?.(nested);
        }
        return stringify([nested, inner], { lineWidth: 0, aliasDuplicateObjects: false });
      };
      expect(verdict(text(maxDepth - 1))).to.equal('ok');
      expect(verdict(text(maxDepth))).to.equal('TooDeep');
    });
    fc.assert(property, { numRuns: tries(8) });
  });
});

function levelsOf(value: unknown): number {
  let depth = 0;
  while (isDeeperThan(value, depth)) depth++;
  return depth;
}
