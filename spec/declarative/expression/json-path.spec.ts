import { expect } from 'chai';
import fc from 'fast-check';
import { tries } from '../../sample.js';
import { evaluate, problemsOf } from './evaluate.js';

const document = {
  metadata: {
    name: 'web',
    annotations: { 'example.com/a': 'slash', 'primary-port': 'https', "it's": 'quote' },
  },
  ports: [
    { name: 'http', port: 80, protocol: 'TCP' },
    { name: 'https', port: 443, tags: ['tls', 'public'] },
    { name: 'dns', port: 53, protocol: 'UDP', tags: [] },
  ],
  matrix: [[1, 2], [3]],
  nothing: null,
  wanted: 'dns',
  größe: 1,
  store: { a: { port: 1 }, list: [{ port: 2 }, { deep: { port: 3 } }] },
};

describe('JSONPaths in an expression', () => {
  for (const [path, result] of [
    ['$.metadata.name', 'web'],
    ["$['metadata']['name']", 'web'],
    ['$["metadata"]["annotations"]["example.com/a"]', 'slash'],
    ["$.metadata.annotations['it\\'s']", 'quote'],
    ['$.metadata.annotations["it\\u0027s"]', 'quote'],
    ['$.metadata.annotations.primary-port', 'https'],
    ['$.größe', 1],
    ["$.metadata['nope', 'name']", 'web'],
    ["$['nope', 'metadata'].name", 'web'],
    ['$.ports[0].port', 80],
    ['$.ports[-1].port', 53],
    ['$.ports[3].port', null],
    ['$.ports[-4].port', null],
    ['$.matrix[1][0]', 3],
    ['$[ "ports" ][ 1 ]["name"]', 'https'],
    ['$.ports.name', null],
    ['$.ports.length', null],
    ['$.metadata.name.length', null],
    ['$.metadata[0]', null],
    ['$.metadata.name[0]', null],
    ['$.nothing', null],
    ['$.nothing.at.all', null],
    ['$.ports[*].port', 80],
    ['$.ports[*].tags[*]', 'tls'],
    ['$.metadata.*', 'web'],
    ['$.ports[1:].name', 'https'],
    ['$.ports[:1].name', 'http'],
    ['$.ports[-2:].name', 'https'],
    ['$.ports[::-1].name', 'dns'],
    ['$.ports[2:0:-1].name', 'dns'],
    ['$.ports[0:2:0].name', null],
    ["$.ports[7, 1]['port', 'name']", 443],
    ['$..port', 80],
    ['$.store..port', 1],
    ['$.store.list..port', 2],
    ["$..['deep'].port", 3],
    ['$..[?@.name == "dns"].port', 53],
    ['$..*', document.metadata],
    ['$.store..nothing', null],
  ] as const) {
    it(`evaluate ${path} to ${JSON.stringify(result)}`, () => {
      expect(evaluate(path, document)).to.deep.equal(result);
    });
  }

  for (const path of ['$', '$.']) {
    it(`return the document for ${path}`, () =>
      expect(evaluate(path, document)).to.equal(document));
  }

  it('read only own members of an object, also if they are named like members of Object.prototype', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'length', 'hasOwnProperty']) {
      expect(evaluate(`$.${name}`, {}), name).to.equal(null);
      expect(evaluate(`$.a.${name}`, { a: [] }), name).to.equal(null);
      expect(evaluate(`$['${name}'].x`, {}), name).to.equal(null);
      expect(evaluate(`$..${name}`, { a: [{}] }), name).to.equal(null);
    }
    const data = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "0": 3}') as object;
    expect(evaluate('$.__proto__.x', { ...data })).to.equal(1);
    expect(evaluate('$.constructor', { ...data })).to.equal(2);
    expect(evaluate('$.0', { ...data })).to.equal(3);
    expect(evaluate('$.a.0', { a: ['x'] })).to.equal(null);
  });

  it('treat a string at the end of a path as data', () => {
    expect(evaluate('$.a', { a: '$.b', b: 1 })).to.equal('$.b');
    expect(evaluate({ '@map': ['$$', '$.a'] }, { a: ['$.b', '@now'], b: 1 })).to.deep.equal([
      '$.b',
      '@now',
    ]);
  });

  it('read the escapes of quoted names', () => {
    const text = '\b\f\n\r\t/\\\'"é';
    const escaped = String.raw`\b\f\n\r\t\/\\\'\"\u00E9`;
    expect(evaluate(`$['${escaped}']`, { [text]: 1 })).to.equal(1);
    expect(evaluate(`$["${escaped}"]`, { [text]: 1 })).to.equal(1);
  });

  it('find any member by its quoted name', () => {
    const property = fc.property(fc.string({ unit: 'grapheme' }), fc.jsonValue(), (name, value) => {
      const quoted = JSON.stringify(name);
      const document = Object.fromEntries([[name, value]]);
      expect(evaluate(`$[${quoted}]`, document)).to.deep.equal(value);
    });
    fc.assert(property, { numRuns: tries(200) });
  });
});

describe('Slices in a JSONPath', () => {
  for (const [slice, first, selected] of [
    ['1:3', 1, [1, 2]],
    [':', 0, [0, 1, 2, 3, 4]],
    ['::', 0, [0, 1, 2, 3, 4]],
    ['-2:', 3, [3, 4]],
    [':-3', 0, [0, 1]],
    ['-9:2', 0, [0, 1]],
    ['3:9', 3, [3, 4]],
    ['5:', null, []],
    ['3:3', null, []],
    ['3:1', null, []],
    ['::2', 0, [0, 2, 4]],
    ['1:4:2', 1, [1, 3]],
    [' 1 : 4 : 2 ', 1, [1, 3]],
    ['::-2', 4, [0, 2, 4]],
    ['3:0:-1', 3, [1, 2, 3]],
    ['1::-1', 1, [0, 1]],
    [':2:-1', 4, [3, 4]],
    ['9:3:-1', 4, [4]],
    ['-1:-3:-1', 4, [3, 4]],
    ['2:-9:-1', 2, [0, 1, 2]],
    ['-9::-1', null, []],
    ['1:3:-1', null, []],
    ['::0', null, []],
  ] as const) {
    it(`select from the list 0 to 4 with [${slice}]: ${selected.join(', ') || 'nothing'}`, () => {
      const list = [0, 1, 2, 3, 4];
      expect(evaluate(`$.list[${slice}]`, { list })).to.equal(first);
      const source = { list: '$.list', [`$.list[${slice}]`]: 'new' };
      expect(evaluate(source, { list })).to.deep.equal({
        list: list.map((item) => (selected.some((index) => index === item) ? 'new' : item)),
      });
    });
  }

  it('select nothing from a value that is not a list, and do not change the value', () => {
    for (const list of [{ 0: 'a', length: 1 }, 'text', 7]) {
      expect(evaluate('$.list[0:1]', { list })).to.equal(null);
      expect(evaluate({ list: '$.list', '$.list[0:1]': 1 }, { list })).to.deep.equal({ list });
    }
  });
});

describe('Filters in a JSONPath', () => {
  for (const [filter, names] of [
    ["@.name=='http'", ['http']],
    ['@.name == "http"', ['http']],
    ["@.name != 'http'", ['https', 'dns']],
    ["@['name'] == 'dns'", ['dns']],
    ['@.port < 80', ['dns']],
    ['@.port <= 80', ['http', 'dns']],
    ['@.port > 80', ['https']],
    ['@.port >= 8e1', ['http', 'https']],
    ['80 < @.port', ['https']],
    ["@.name > 'http'", ['https']],
    ["@.port > 'http'", []],
    ['@.tags', ['https', 'dns']],
    ['!@.tags', ['http']],
    ['@.tags[0]', ['https']],
    ["@.tags[?@ == 'public']", ['https']],
    ["@.protocol == 'TCP' || @.port == 53", ['http', 'dns']],
    ["@.protocol == 'TCP' && @.port == 53", []],
    ["@.protocol && (@.port == 443 || !(@.name == 'http'))", ['dns']],
    ["@.protocol == 'TCP' || @.protocol == 'UDP' && @.port == 80", ['http']],
    ['@.missing == @.other', ['http', 'https', 'dns']],
    ['@.missing == null', []],
    ['@.missing != null', ['http', 'https', 'dns']],
    ['@.name == $.wanted', ['dns']],
    ['$.missing', []],
    ["@.name in ['http', 'dns']", ['http', 'dns']],
    ['@.name in []', []],
    ['@.port in [53,80.0]', ['http', 'dns']],
    ['length(@.name) == 5', ['https']],
    ['length(@.tags) == 0', ['dns']],
    ['length(@.port) == 2', []],
    ['count(@.tags[*]) > 1', ['https']],
    ['count(@.*) == 4', ['dns']],
    ['count($.ports[*]) == 3', ['http', 'https', 'dns']],
    ["match(@.name, 'http')", ['http']],
    ["search(@.name, 't+p')", ['http', 'https']],
    ["match(@.port, '80')", []],
    ["search(@.name, '(')", []],
    ["@ == 'x'", []],
  ] as const) {
    for (const text of [`$.ports[?(${filter})].name`, `$.ports[? ${filter} ].name`]) {
      it(`find ${names[0] ?? 'nothing'} by ${text}`, () => {
        const [first = null] = names;
        expect(evaluate(text, document)).to.equal(first);
      });
    }

    it(`match ${names.join(' and ') || 'nothing'} by ${filter}`, () => {
      // Marks all matches, because getters return the first one only.
      const marked = evaluate({ '$.': '$', [`$.ports[?${filter}].mark`]: true }, document);
      const { ports } = marked as { ports: { name: string; mark?: true }[] };
      expect(ports.filter((port) => port.mark).map((port) => port.name)).to.deep.equal(names);
    });
  }

  const values = [null, false, true, 0, 1, '', 'ab', 'b', '💾', [], [1], {}, { a: 1 }];
  for (const [filter, matches] of [
    ['@ == null', [null]],
    ['@ == true', [true]],
    ['@ == false', [false]],
    ['@ in [true, null, 1.0, "b"]', [null, true, 1, 'b']],
    ['@ < 1', [0]],
    ['@ <= 1', [0, 1]],
    ["@ < 'b'", ['', 'ab']],
    ["@ >= 'b'", ['b', '💾']],
    ['@ <= true', [true]],
    ['@ < true', []],
    ['@ == $.one', [[1]]],
    ['@ >= $.one', [[1]]],
    ['length(@) == 1', ['b', '💾', [1], { a: 1 }]],
    ['length(@) == $.missing', [null, false, true, 0, 1]],
    ['count(@[*]) == 1', [[1], { a: 1 }]],
    ['count(@.missing) == 0', values],
    ["match(@, 'a|b')", ['b']],
    ["search(@, 'a|b')", ['ab', 'b']],
    ['match(@, $.pattern)', ['', 'b']],
    ['match(@, $.one)', []],
    ['!(@ == 1) && (@ == 1 || @ == 0 || @ == true)', [true, 0]],
  ] as const) {
    it(`match ${JSON.stringify(matches)} by ${filter}`, () => {
      const source = { '$.': '$', [`$.values[?${filter}]`]: 'match' };
      const marked = evaluate(source, { values, one: [1], pattern: 'b?' });
      const { values: left } = marked as { values: unknown[] };
      const found = values.filter((_, index) => left[index] === 'match');
      expect(found).to.deep.equal(matches);
      expect(left.filter((value) => value !== 'match')).to.have.length(
        values.length - found.length,
      );
    });
  }

  it('test each member of a map', () => {
    expect(evaluate('$.store[?@.port].port', document)).to.equal(1);
  });

  it('resolve $ to the whole document, also within a filter on elements', () => {
    const source = { '@map': ['$$[?@.port > $.least].port', '$.lists'] };
    const lists = [[{ port: 1 }, { port: 5 }], [{ port: 9 }]];
    expect(evaluate(source, { least: 4, lists })).to.deep.equal([5, 9]);
  });
});

describe('An invalid JSONPath', () => {
  for (const [path, problem] of [
    ['$.a[', "character 5: want 'a name', an index, *, a slice or ?filter"],
    ['$.a.', "character 5: want a name or *; write a name with other characters as ['…']"],
    ['$.a b', 'character 4: want . or [, got " "'],
    ['$.a/b', 'character 4: want . or [, got "/"'],
    ["$['a", "character 3: unterminated text; want a closing '"],
    ["$['\\x']", 'character 5: invalid escape \\x'],
    ['$[1', 'character 4: want ]'],
    ['$[01]', "character 3: want 'a name', an index, *, a slice or ?filter"],
    ['$[9007199254740993]', 'character 19: invalid index 9007199254740993'],
    ['$.a[?@.b ==]', "character 12: want @…, $…, 'a string', a number, true, false or null"],
    ['$.a[?(@.b == 1]', 'character 15: want )'],
    ["$.a[?@.b = 'x']", 'character 10: want ]'],
    [
      '$.a[?@.* == 1]',
      'character 12: only a path to one place, of names and indexes, can be compared',
    ],
    [
      '$.a[?sum(@.b) == 1]',
      'character 9: sum() is unknown; the functions are length, count, match and search',
    ],
    ['$.a[?1]', 'character 7: want a comparison'],
    ['$a', 'character 2: want . or [, got "a"'],
    ['$[-0]', 'character 5: invalid index -0'],
    ['$[1.5]', "character 3: want 'a name', an index, *, a slice or ?filter"],
    ['$[1:2:3:4]', 'character 8: want ]'],
    ['$.a[?count(1) == 1]', 'character 12: want @ or $'],
    [
      '$.a[?length(@.*) == 1]',
      'character 16: only a path to one place, of names and indexes, can be compared',
    ],
    ["$.a[?match(@.b 'x')]", 'character 16: want ,'],
    ["$.a[?match(@.b, 'x']", 'character 20: want )'],
    ["$.a[?@.b in 'x']", 'character 13: want ['],
    ['$.a[?@.b in [@.c]]', "character 14: want @…, $…, 'a string', a number, true, false or null"],
    ['$.a[?@.b == nullx]', "character 13: want @…, $…, 'a string', a number, true, false or null"],
    ['$.a[?@.b && ]', "character 13: want @…, $…, 'a string', a number, true, false or null"],
    ["$['\\u12']", 'character 5: invalid escape \\u'],
    ["$['a'", 'character 6: want ]'],
    ['$...a', "character 4: want a name or *; write a name with other characters as ['…']"],
  ] as const) {
    it(`is refused with the position of the error: ${path}`, () => {
      const literal = problem.startsWith('character 2:') ? ` ({"@literal": "${path}"})` : '';
      expect(problemsOf({ x: [path] })).to.deep.equal([
        `x[0]: invalid JSONPath ${JSON.stringify(path)}: ${problem}${literal}`,
      ]);
    });
  }

  it('suggests @literal for a string that only begins with $', () => {
    expect(problemsOf('$5')[0]).to.contain('({"@literal": "$5"})');
  });

  it('is refused without a crash, for arbitrary text', () => {
    const piece = fc.constantFrom(
      ...['$', '.', '[', ']', '?', '(', ')', '@', "'a'", '"', '==', '&&', '||', '!', '*', ':', ','],
      ...['a', '-', '1', ' ', 'in', 'count(', 'length(', 'match(', '<', '..', 'null', '\\'],
    );
    const property = fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const path = `$${pieces.join('')}`;
      const problems = problemsOf(path);
      expect(problems).to.have.lengthOf.at.most(1);
      if (problems.length === 0) evaluate(path, document);
    });
    fc.assert(property, { numRuns: tries(1_000) });
  });
});
