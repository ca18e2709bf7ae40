import { expect } from 'chai';
import { defineResource, s } from '../../../lib/crd/index.js';

const Thing = defineResource({
  group: 'example.com',
  kind: 'Thing',
  versions: [
    {
      name: 'v1',
      schema: s.object({
        spec: s.object(
          {
            text: s.string({ maxLength: 3, minLength: 1, pattern: '^[a-z]*$' }),
            mode: s.optional(s.string({ enum: ['on', 'off'], maxLength: 3 })),
            list: s.optional(s.array(s.string({ maxLength: 9 }), { maxItems: 1 })),
            count: s.optional(s.integer({ maximum: 5 })),
          },
          { rules: [{ rule: 'false', message: 'the rule ran' }] },
        ),
      }),
    },
  ],
});

/** Returns the messages for a spec, which equal those of the real server (v1.36). */
function messagesFor(spec: object): string[] {
  const type = { apiVersion: Thing.apiVersion, kind: Thing.kind };
  const causes = Thing.validate({ ...type, metadata: { name: 'a' }, spec } as never);
  return causes.map(({ message = '' }) => message);
}

const unchecked =
  'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

describe('validation of a custom resource', () => {
  for (const [title, spec, problem] of [
    ['a missing field', {}, 'Required value'],
    ['a text that is too long', { text: 'aaaa' }, 'Too long: may not be more than 3 bytes'],
    [
      'a list that is too long',
      { text: 'a', list: ['a', 'b'] },
      'Too many: 2: must have at most 1 item',
    ],
    [
      'an unsupported value',
      { text: 'a', mode: 'x' },
      'Unsupported value: "x": supported values: "on", "off"',
    ],
    [
      'a value of another type',
      { text: 5 },
      'Invalid value: "integer": spec.text in body must be of type string: "integer"',
    ],
  ] as const) {
    it(`does not run the rules on an object with ${title}`, () => {
      expect(messagesFor(spec)).to.deep.equal([problem, unchecked]);
    });
  }

  it('runs the rules on a number out of range, and on strings that are too short or violate their pattern', () => {
    expect(messagesFor({ text: 'A', count: 9 })).to.deep.equal([
      `Invalid value: "A": spec.text in body should match '^[a-z]*$'`,
      'Invalid value: 9: spec.count in body should be less than or equal to 5',
      'Invalid value: the rule ran',
    ]);
    expect(messagesFor({ text: '' })).to.deep.equal([
      'Invalid value: "": spec.text in body should be at least 1 chars long',
      'Invalid value: the rule ran',
    ]);
  });

  it('refuses a stored value of another type only if a rule uses it', () => {
    const rules = [
      'oldSelf.hasValue()',
      'oldSelf.or(optional.none()).hasValue()',
      'oldSelf != optional.none()',
      'oldSelf.value() < self',
      'oldSelf.orValue(0) < self',
    ].map((rule) => ({ rule, optionalOldSelf: true }));
    const Counter = defineResource({
      ...{ group: 'example.com', kind: 'Counter' },
      versions: [{ name: 'v1', schema: s.object({ spec: s.integer({ rules }) }) }],
    });
    const counter = (spec: unknown) =>
      ({
        apiVersion: Counter.apiVersion,
        kind: Counter.kind,
        metadata: { name: 'a' },
        spec,
      }) as never;
    const messages = Counter.validate(counter(1), counter('0')).map(({ message = '' }) => message);
    expect(messages).to.deep.equal(
      ['oldSelf.value() < self', 'oldSelf.orValue(0) < self'].map(
        (rule) =>
          `Invalid value: "integer": invalid data, expected int, got string evaluating rule: ${rule}`,
      ),
    );
  });
});
