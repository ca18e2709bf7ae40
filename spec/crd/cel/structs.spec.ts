import { expect } from 'chai';
import { compileCel } from '../../../lib/crd/cel/program.js';
import { intType, stringType, structType } from '../../../lib/crd/cel/types.js';
import { CelObject } from '../../../lib/crd/cel/values.js';

const pointType = structType('Point', new Map());
const fields = new Map([
  ['x', intType],
  ['name', stringType],
]);
const extension = {
  structNamed: (name: string) =>
    name === 'Point'
      ? { type: pointType, fieldNamed: (field: string) => fields.get(field) }
      : undefined,
};

/** Returns the fields of the created object, or the first line of the error. */
function created(source: string): unknown {
  try {
    const value = compileCel(source, new Map(), extension).evaluate({});
    if (!(value instanceof CelObject)) return value;
    return { [value.typeName]: value.keys().map((key) => [key, value.get(key)]) };
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    return line.replace(/^ERROR: <input>:[\d:]+ /, '');
  }
}

describe('A CEL expression that creates an object', () => {
  for (const [source, result] of [
    ['Point{}', { Point: [] }],
    [
      'Point{x: 1 + 1, name: "a"}',
      {
        Point: [
          ['x', 2n],
          ['name', 'a'],
        ],
      },
    ],
    ['Point{?x: optional.of(1), ?name: optional.none()}', { Point: [['x', 1n]] }],
    ['Point{?x: dyn(1)}', { Point: [['x', 1n]] }],
    ['type(Point{}) == type(Point{x: 1})', true],
    ['Point{x: "a"}', "expected type of field 'x' is 'int' but provided type is 'string'"],
    ['Point{y: 1}', "expected type of field 'y' is '' but provided type is 'int'"],
    ['Line{x: 1}', "undeclared reference to 'Line' (in container '')"],
  ] as const) {
    it(`gives the expected value or error: ${source}`, () => {
      expect(created(source)).to.deep.equal(result);
    });
  }
});
