import { inspect } from 'node:util';
import { expect } from 'chai';
import { FieldErrors } from '../../../lib/crd/validation/field-errors.js';
import { validateScaleSpec, validateScaleStatus } from '../../../lib/crd/validation/scale-range.js';

const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

type Validate = typeof validateScaleSpec;

function causesOf(validate: Validate, object: object, given = scale as Partial<typeof scale>) {
  const errors = new FieldErrors();
  validate(object, given as typeof scale, errors);
  return errors.causes.map(({ field, message }) => `${field ?? ''}: ${message ?? ''}`);
}

describe('The scale subresource of a custom resource', () => {
  for (const [replicas, problem] of [
    [undefined, undefined],
    [null, '0: .spec.replicas accessor error: <nil> is of the type <nil>, expected int64'],
    [0, undefined],
    [2 ** 31 - 1, undefined],
    [2 ** 31, '2147483648: should be less than or equal to 2147483647'],
    [-1, '-1: should be a non-negative integer'],
    [1.5, '0: .spec.replicas accessor error: 1.5 is of the type float64, expected int64'],
    ['1', '0: .spec.replicas accessor error: 1 is of the type string, expected int64'],
  ] as const) {
    it(`${problem === undefined ? 'accepts' : 'refuses'} the number of replicas ${inspect(replicas)}`, () => {
      const causes = problem === undefined ? [] : [`.spec.replicas: Invalid value: ${problem}`];
      expect(causesOf(validateScaleSpec, { spec: { replicas } })).to.deep.equal(causes);
    });
  }

  it('accepts objects without the fields of the scale, and kinds without a scale subresource', () => {
    for (const object of [{}, { spec: null, status: null }, { spec: {}, status: {} }]) {
      expect(causesOf(validateScaleSpec, object)).to.deep.equal([]);
      expect(causesOf(validateScaleStatus, object)).to.deep.equal([]);
    }
    const errors = new FieldErrors();
    const wrong = { spec: { replicas: -1 }, status: { replicas: -1 } };
    validateScaleSpec(wrong, undefined, errors);
    validateScaleStatus(wrong, undefined, errors);
    expect(errors.causes).to.deep.equal([]);
  });

  it('reports a part of its path that is not an object, and a selector that is not a string', () => {
    const noMap = 'accessor error: a is of the type string, expected map[string]interface{}';
    expect(causesOf(validateScaleSpec, { spec: 'a' })).to.deep.equal([
      `.spec.replicas: Invalid value: 0: .spec.replicas ${noMap}`,
    ]);
    expect(causesOf(validateScaleStatus, { status: 'a' })).to.deep.equal([
      `.status.replicas: Invalid value: 0: .status.replicas ${noMap}`,
      `.status.selector: Invalid value: "": .status.selector ${noMap}`,
    ]);
    const status = { replicas: -1, selector: 5 };
    const replicas = '.status.replicas: Invalid value: -1: should be a non-negative integer';
    expect(causesOf(validateScaleStatus, { status })).to.deep.equal([
      replicas,
      '.status.selector: Invalid value: "": .status.selector accessor error: 5 is of the type int64, expected string',
    ]);
    const { statusReplicasPath } = scale;
    expect(causesOf(validateScaleStatus, { status }, { statusReplicasPath })).to.deep.equal([
      replicas,
    ]);
  });
});
