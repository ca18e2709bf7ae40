/** A schema of the field `f` of a custom resource's spec, and values for it. */
export interface Feature {
  readonly title: string;
  readonly schema: Schema;
  readonly values: readonly unknown[];
}

/** A schema of OpenAPI v3. */
export type Schema = Readonly<Record<string, unknown>>;

export const text = { type: 'string' };
export const number = { type: 'integer' };
export const pair = { type: 'object', properties: { a: text, b: number } };
const embedded = {
  ...{ type: 'object', 'x-kubernetes-embedded-resource': true },
  'x-kubernetes-preserve-unknown-fields': true,
};
const values = [5, -1, 1.5, 'a', '', true, null, [], ['a'], {}, { a: 1 }, { a: 'x', b: 1 }];

/** Each feature of schemas. */
export const features: readonly Feature[] = [
  {
    title: 'string',
    schema: { ...text, minLength: 2, maxLength: 4 },
    values: [...values, 'ab', 'abcde', 'äöüß', '😀'],
  },
  { title: 'pattern', schema: { ...text, pattern: '^[a-c]+$' }, values: [...values, 'abc', 'abd'] },
  { title: 'enumeration', schema: { ...text, enum: ['a', 'b'] }, values: [...values, 'b', 'c'] },
  {
    title: 'integer',
    schema: { ...number, minimum: 1, maximum: 10, multipleOf: 2 },
    values: [...values, 4, 11, 2 ** 53, 1e3, -0],
  },
  {
    title: 'exclusive',
    schema: {
      type: 'number',
      minimum: 1,
      exclusiveMinimum: true,
      maximum: 2,
      exclusiveMaximum: true,
    },
    values: [...values, 1, 2],
  },
  {
    title: 'int32',
    schema: { ...number, format: 'int32' },
    values: [...values, 2 ** 31, 2 ** 31 - 1],
  },
  { title: 'boolean', schema: { type: 'boolean' }, values: [...values, 'true', false] },
  { title: 'nullable', schema: { ...text, nullable: true, default: 'd' }, values },
  {
    title: 'default',
    schema: {
      ...pair,
      default: { a: 'd' },
      properties: { a: { ...text, default: 'x' }, b: number },
    },
    values,
  },
  { title: 'required', schema: { ...pair, required: ['a', 'b'] }, values },
  { title: 'pruned', schema: pair, values: [...values, { c: 1 }, { a: 'x', c: { d: 1 } }] },
  {
    title: 'preserved',
    schema: { ...pair, 'x-kubernetes-preserve-unknown-fields': true },
    values: [...values, { c: { d: [null] } }],
  },
  {
    title: 'map',
    schema: { type: 'object', additionalProperties: number, maxProperties: 2, minProperties: 1 },
    values: [...values, { a: 1, b: 2, c: 3 }, { a: null }],
  },
  {
    title: 'list',
    schema: { type: 'array', items: text, minItems: 1, maxItems: 2 },
    values: [...values, ['a', 'b', 'c'], [null], [1, 'a', {}]],
  },
  {
    title: 'unique',
    schema: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    values: [...values, ['a', 'a'], ['a', 'b', 'a', 'b']],
  },
  {
    title: 'keyed',
    schema: {
      type: 'array',
      items: { ...pair, required: ['a'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
    values: [
      ...[...values, [{ a: 'x' }, { a: 'x' }], [{ b: 1 }], [{ a: 'x' }, { a: 'y' }], [null]],
      ...[
        [{ a: 'x' }, null],
        ['x', null],
        [null, { a: 'x' }, { a: 'x' }],
        [null, null],
        [null, { b: 1 }],
        [null, { a: 'x' }, { a: 'x' }, 1],
      ],
    ],
  },
  {
    title: 'int-or-string',
    schema: { 'x-kubernetes-int-or-string': true },
    values: [...values, '5%'],
  },
  {
    title: 'anyOf',
    schema: {
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      pattern: '^\\d+%?$',
    },
    values: [...values, '5%', 'x%'],
  },
  {
    title: 'oneOf',
    schema: { ...pair, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    values: [...values, { b: 1 }, { a: 'x' }],
  },
  {
    title: 'oneOf-values',
    schema: { ...text, oneOf: [{ pattern: '^a' }, { maxLength: 1 }, { enum: ['bb'] }] },
    values: [...values, 'ab', 'bb', 'bbb'],
  },
  {
    title: 'anyOf-required',
    schema: {
      ...pair,
      anyOf: [{ required: ['a'] }, { properties: { b: { minimum: 5 } }, required: ['b'] }],
    },
    values: [...values, { b: 1 }, { b: 7 }],
  },
  {
    title: 'allOf',
    schema: {
      ...pair,
      allOf: [
        { required: ['a'] },
        { not: { required: ['b'] } },
        { properties: { a: { pattern: '^x' } } },
      ],
    },
    values: [...values, { a: 'y' }, { a: 'x' }],
  },
  { title: 'not', schema: { ...text, not: { enum: ['a'] } }, values: [...values, 'b'] },
  {
    title: 'embedded',
    schema: embedded,
    values: [
      ...values,
      { apiVersion: 'v1', kind: 'Pod', metadata: 'A_B' },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'A_B' } },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a', unknown: 1, labels: { a: 'b' } },
        spec: 1,
      },
      { apiVersion: 'v1', kind: '' },
      { apiVersion: 'a/b/c', kind: 'X' },
      { kind: 'Pod', apiVersion: 5 },
      { kind: 'Pod', apiVersion: 'v1', metadata: { labels: { a: 1 } } },
      { kind: 'Pod', apiVersion: 'v1', metadata: null },
    ],
  },
  ...formats(),
];

function formats(): Feature[] {
  const samples: Readonly<Record<string, readonly unknown[]>> = {
    'date-time': [
      '2026-01-01T00:00:00Z',
      '2026-01-01',
      '2026-13-01T00:00:00Z',
      '2026-01-01T00:00:00.5+01:00',
    ],
    date: ['2026-01-01', '2026-02-30', '2026-1-1'],
    duration: ['5s', '1h5m', '5', 'x', '-5s', '5 days'],
    byte: ['eA==', '###', 'eA'],
    uuid: ['00000000-0000-0000-0000-000000000000', 'x'],
    ipv4: ['10.0.0.1', '10.0.0.256', '::1'],
    ipv6: ['::1', '10.0.0.1', 'x'],
    cidr: ['10.0.0.0/8', '10.0.0.1', '10.0.0.0/33'],
    email: ['a@b.c', 'a', 'A <a@b.c>'],
    hostname: ['a.b', 'A_b', '-a'],
    uri: ['http://x', 'x', '/a', 'http://x y'],
    mac: ['00:00:5e:00:53:01', 'x'],
    password: ['x'],
    unknown: ['x', 5],
  };
  return Object.entries(samples).map(([format, list]) => ({
    title: `format ${format}`,
    schema: { ...text, format },
    values: [...list, '', 5, null],
  }));
}

/** Specs with CEL rules, and values for them. */
export const rules: readonly (readonly [Schema, readonly unknown[]])[] = [
  ...(
    [
      [{ rule: "self.a != 'x'" }],
      [{ rule: "self.a != 'x'", message: 'not x', reason: 'FieldValueForbidden', fieldPath: '.a' }],
      [{ rule: "self.a != 'x'", messageExpression: "'got ' + self.a", message: 'other' }],
      [
        {
          rule: 'self.b > 1 && self.b < 10',
          messageExpression: 'string(1/0)',
          message: 'fallback',
        },
      ],
      [{ rule: 'self.b == oldSelf.b' }],
      [{ rule: 'oldSelf.hasValue() ? self.b >= oldSelf.value().b : true', optionalOldSelf: true }],
      [{ rule: 'has(self.a) || has(self.b)' }],
      [{ rule: '1 / self.b > 0' }],
      [{ rule: 'dyn({"a": 1}).sortBy(x, x) == []' }],
      [{ rule: 'dyn([2, 1]).sortBy(x, x) == [1, 2]' }],
      [{ rule: 'dyn({1: "a"}).sortBy(x, -x)[0] == 1' }],
      [{ rule: 'dyn({}).sortBy(x, x) == []' }],
      [{ rule: 'self.b.startsWith("x")' }],
      [{ rule: 'self.c' }],
      [{ rule: 'self.a' }],
      [{ rule: '' }],
      [{ rule: 'self.' }],
      [{ rule: 'self.+ 1' }],
      [{ rule: 'true', reason: 'Other' }],
      [{ rule: 'true', fieldPath: '.none' }],
      [{ rule: 'true', messageExpression: '1' }],
      [{ rule: 'true', message: 'a\nb' }],
      [{ rule: "self.a.matches('[')" }],
      [
        {
          rule: "isURL(self.a) || ip.isCanonical('1.2.3.4') || quantity('5Gi').isGreaterThan(quantity('1'))",
        },
      ],
      [
        { rule: "self.a.split(',').all(x, x.size() < 3)" },
        { rule: 'self.a.lowerAscii() == self.a' },
      ],
      [{ rule: "self.a in ['p', 'q']" }, { rule: 'self.b % 2 == 0', message: 'odd' }],
      [{ rule: "timestamp(self.a) > timestamp('2020-01-01T00:00:00Z')" }],
      [{ rule: "duration(self.a) < duration('1h')" }],
      [{ rule: "self.list.exists_one(i, i == 'a')" }],
      [{ rule: 'self.list.all(x, self.list.all(y, self.list.all(z, x + y + z != "")))' }],
      [{ rule: "self.map.all(k, k.matches('a*b*c*d*'))" }],
      [{ rule: "type(self.b) == int && self.a.format('%s') == ''" }],
      [{ rule: 'cel.bind(x, self.b, x * x < 100)' }],
      [{ rule: "self.?a.orValue('y') != 'x'" }],
    ] as const
  ).map((list) => {
    const properties = {
      a: text,
      b: number,
      list: { type: 'array', items: text },
      map: { type: 'object', additionalProperties: text },
    };
    const schema = { type: 'object', properties, 'x-kubernetes-validations': list };
    return [
      schema,
      [
        { a: 'x', b: 0 },
        { a: 'y', b: 5 },
        { b: 20 },
        { a: 'P,long' },
        { list: ['a', 'a'], b: 7 },
        { map: { abcd: '1' }, a: '5m' },
      ],
    ] as const;
  }),
];

/** Rules with errors in their syntax, and rules that use reserved words. */
export const syntaxes: readonly string[] = [
  ...["self.in == 'x'", 'has(self.in)', "!has(self.in) || self.in == 'x'", "'x' == self.in"],
  ...['self.in.size() > 1', 'self.in in self', 'self.in', 'self . in', 'in', 'in == 1', 'true in'],
  ...['self.in ? 1 : 2', 'self.in || self.in', 'size(self.in) > 1', 'size(in)', '[in]', '{in: 1}'],
  ...['self.all(in, true)', 'self.all(x, x.in)', "self.all(x, x.in == 'a')", 'self.all(if, true)'],
  ...["self.?in.orValue('x') == 'x'", "self.?__in__.orValue('x') == 'x'", "self.__in__ == 'x'"],
  ...["self.true == 'x'", 'has(self.null)', 'self.false.x', 'self.?true', "self.if == 'x'", 'if.x'],
  ...["self.namespace == 'x'", 'namespace', '.if', '.in', "self.`in` == 'x'", 'has(self.`in`)'],
  ...[
    'self.a ==',
    'self.a == == 1',
    '&& self.a',
    'self.a &&',
    '(self.a',
    'self.a)',
    'self.a self.b',
  ],
  ...[
    "self.a 'x'",
    '[self.a',
    '[self.a,,1]',
    '[1 2]',
    '[,]',
    '[,1]',
    "{'a' 1}",
    "{'a': }",
    '{1:2,,}',
  ],
  ...['self.a ? 1', 'self.a ? : 2', 'self.l[', 'self.l[]', 'self.l[0', 'self.f(', 'self.f(,)'],
  ...[
    'self.f(1 2)',
    'self.a.',
    'self.a.1',
    "self.'x'",
    'self..a',
    'self.(a)',
    '!',
    '-',
    '!-self.a',
  ],
  ...['-!self.a', '- == 1', 'a.b{', 'a.b{c:1', 'a.b{1:2}', 'has()', 'has(self)', '"abc', '#', '$x'],
  ...['self.a = 1', 'self.a & 1', 'self.a ; 1', 'self.a and 1', 'not self.a', 'self.a == 1 in'],
];
