import { expect } from 'chai';
import { s } from '../../../../lib/crd/index.js';
import { FieldErrors } from '../../../../lib/crd/validation/field-errors.js';
import { validateResource } from '../../../../lib/crd/validation/validate-resource.js';
import type { StatusCause } from '../../../../lib/object/api-error.js';
import type { Schema } from '../../../../lib/object/schema.js';

/**
 * Returns the causes that rules report for a spec. No server would accept the CRD, because of its estimated cost.
 */
function causesOf(spec: Schema, value: object): readonly StatusCause[] {
  const schema: Schema = { type: 'object', properties: { spec } };
  const errors = new FieldErrors();
  validateResource({ metadata: { name: 'a' }, spec: value }, { schema, errors });
  return errors.causes;
}

function messagesOf(rule: string, a: string | readonly number[]): string[] {
  const value = typeof a === 'string' ? s.string() : s.array(s.integer());
  const spec = s.object({ a: value }, { rules: [rule] });
  return causesOf(spec, { a }).map(({ message = '' }) => message);
}

const numbers = Array.from({ length: 1000 }, (_, index) => index);

describe('the limit on the cost of evaluating CEL rules', () => {
  it('stops nested loops', () => {
    const rule = 'self.a.all(x, self.a.all(y, self.a.all(z, x + y + z >= 0)))';
    expect(messagesOf(rule, numbers).join()).to.contain(
      "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.a.all(",
    );
  });

  it('stops a rule that doubles a text repeatedly', () => {
    let doubled = 'self.a';
    for (let count = 0; count < 35; count++) doubled = `[${doubled}].map(x, x + x)[0]`;
    expect(messagesOf(`${doubled} != ''`, 'aaaaaaaa').join()).to.contain('call cost exceeds limit');
  });

  it('causes an error that || and macros cannot absorb', () => {
    const loop = 'self.a.all(x, self.a.all(y, self.a.all(z, x + y + z >= 0)))';
    expect(messagesOf(`${loop} || true`, numbers)).to.have.length(1);
    expect(messagesOf(`self.a.exists(w, ${loop} || true)`, numbers)).to.have.length(1);
  });

  it('does not stop usual rules', () => {
    const rule = 'self.a.all(x, self.a.exists(y, x == y))';
    expect(messagesOf(rule, numbers.slice(0, 300))).to.deep.equal([]);
  });

  it('applies to all rules of an object together', () => {
    const entry = s.array(s.integer(), { rules: ['self.all(x, self.all(y, x + y >= 0))'] });
    const lists = Array.from({ length: 200 }, () => numbers.slice(0, 200));
    const causes = causesOf(s.object({ lists: s.array(entry) }), { lists });
    expect(causes).to.have.length(1);
    expect(causes[0]?.message).to.contain('validation failed due to running out of cost budget');
  });
});
