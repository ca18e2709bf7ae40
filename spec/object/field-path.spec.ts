import { expect } from 'chai';
import fc from 'fast-check';
import {
  canonicalElement,
  comparePathElements,
  fieldElement,
  fieldPath,
  indexElement,
  keyElement,
  parsePathElement,
  pathToServerString,
  pathToString,
  valueElement,
} from '../../lib/object/field-path.js';

describe('path elements of managedFields', () => {
  it('are serialized like in Go: sorted keys, escaped HTML characters', () => {
    expect(fieldElement('a.b/c')).to.equal('f:a.b/c');
    expect(keyElement({ protocol: 'TCP', containerPort: 80 })).to.equal(
      'k:{"containerPort":80,"protocol":"TCP"}',
    );
    expect(valueElement('<a> & "b"')).to.equal('v:"\\u003ca\\u003e \\u0026 \\"b\\""');
    expect(valueElement('\b\f\n\\b')).to.equal('v:"\\u0008\\u000c\\n\\\\b"');
    expect(indexElement(3)).to.equal('i:3');
  });

  it('are parsed back to the same element', () => {
    const element = fc.oneof(
      fc.string().map(fieldElement),
      fc.dictionary(fc.string(), scalar(), { minKeys: 1 }).map(keyElement),
      scalar().map(valueElement),
      fc.nat().map(indexElement),
    );
    const property = fc.property(element, (text) => {
      const parsed = parsePathElement(text);
      expect(canonicalElement(text)).to.equal(text);
      if (parsed.type === 'key') {
        expect(keyElement(Object.fromEntries(parsed.keys))).to.equal(text);
      }
      if (parsed.type === 'value') expect(valueElement(parsed.value)).to.equal(text);
    });
    fc.assert(property);
  });

  for (const [text, canonical] of [
    ['k:{ "b": 1, "a": "x" }', 'k:{"a":"x","b":1}'],
    ['k:{"a":"<"}', 'k:{"a":"\\u003c"}'],
    ['v: "x"', 'v:"x"'],
    ['v:1.0', 'v:1'],
    ['i:+3', 'i:3'],
    ['f:', 'f:'],
    ['x:unknown', undefined],
  ] as const) {
    it(`are parsed from ${text} as ${String(canonical)}`, () => {
      expect(canonicalElement(text)).to.equal(canonical);
    });
  }

  for (const [text, why] of [
    ['', 'key must be 2 characters long:'],
    ['f', 'key must be 2 characters long:'],
    ['spec', 'missing colon: spec'],
    ['k:{', 'Expected property name'],
    ['k:["a"]', 'a key must be an object'],
    ['k:null', 'a key must be an object'],
    ['k:1', 'a key must be an object'],
    ['v:', 'Unexpected end of JSON input'],
    ['i:x', 'invalid index x'],
    ['i:', 'invalid index '],
    ['__proto__', 'missing colon: __proto__'],
  ] as const) {
    it(`are not parsed from ${JSON.stringify(text)}`, () => {
      const message = `path element ${JSON.stringify(text)}: ${why}`;
      expect(() => parsePathElement(text)).to.throw(message);
      expect(() => canonicalElement(text))
        .to.throw(JSON.stringify(text))
        .with.property('code', 'InvalidValue');
    });
  }

  it("sort in the server's order", () => {
    const ordered = [
      'f:Z',
      'f:a',
      'k:{"a":9}',
      'k:{"a":10}',
      'k:{"a":10,"b":1}',
      'k:{"a":"a"}',
      'k:{"a":"a b"}',
      'k:{"a":"a\\"b"}',
      'k:{"a":"a-b"}',
      'k:{"a":true}',
      'k:{"a":{"x":1}}',
      'k:{"a":null}',
      'k:{"b":1}',
      'k:{"b":"x","c":1}',
      'k:{"b":"x","c":2}',
      'v:2',
      'v:10',
      'v:"x"',
      'v:false',
      'v:true',
      'v:[1]',
      'v:null',
      'i:2',
      'i:10',
    ];
    expect(ordered.toReversed().sort(comparePathElements)).to.deep.equal(ordered);
    expect(ordered.filter((one) => comparePathElements(one, one) !== 0)).to.deep.equal([]);
  });

  it('have a total order, also for any keys', () => {
    const key = fc.record({ name: fc.string(), port: fc.nat() }).map(keyElement);
    const property = fc.property(key, key, key, (a, b, c) => {
      expect(Math.sign(comparePathElements(a, b))).to.equal(-Math.sign(comparePathElements(b, a)));
      expect(comparePathElements(a, b) === 0).to.equal(a === b);
      if (comparePathElements(a, b) <= 0 && comparePathElements(b, c) <= 0) {
        expect(comparePathElements(a, c)).to.be.at.most(0);
      }
    });
    fc.assert(property);
  });
});

describe('paths of managedFields as text', () => {
  const containers = fieldPath('spec', 'containers');
  const port = [
    ...containers,
    keyElement({ name: 'web' }),
    'f:ports',
    keyElement({ containerPort: 80, protocol: 'TCP' }),
  ];

  it('can be written in a short form for people', () => {
    expect(pathToString(port)).to.equal(
      'spec.containers[name=web].ports[containerPort=80,protocol=TCP]',
    );
    expect(pathToString([...fieldPath('metadata', 'finalizers'), valueElement('a/b')])).to.equal(
      'metadata.finalizers[=a/b]',
    );
    expect(pathToString(fieldPath('metadata', 'annotations', 'example.com/a'))).to.equal(
      'metadata.annotations["example.com/a"]',
    );
    expect(pathToString(['f:spec', 'i:0'])).to.equal('spec[0]');
  });

  it('have the form that messages of the API server use', () => {
    expect(pathToServerString(port)).to.equal(
      '.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"]',
    );
    expect(pathToServerString(['f:a', 'v:"x"', 'i:0'])).to.equal('.a[="x"][0]');
    const values = [null, 1, true, [1, 'a'], { a: 1, b: 'x' }].map((value) => [
      valueElement(value),
    ]);
    expect(values.map(pathToServerString)).to.deep.equal([
      ...['[=null]', '[=1]', '[=true]', '[=[1,"a"]]', '[=a=1b="x"]'],
    ]);
  });
});

function scalar(): fc.Arbitrary<unknown> {
  return fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
}
