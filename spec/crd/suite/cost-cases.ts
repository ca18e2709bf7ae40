import { s } from '../../../lib/crd/index.js';
import type { Schema, SchemaRule } from '../../../lib/object/schema.js';

/** Properties with and without limits, from which costs are estimated. */
export const roomyScene: Schema = s.object({
  int: s.integer(),
  free: s.string(),
  short: s.string({ maxLength: 10 }),
  choice: s.optional(s.string({ enum: ['a', 'bbb', 'ééé'] })),
  bytes: s.string({ format: 'byte' }),
  fewBytes: s.string({ format: 'byte', maxLength: 10 }),
  time: s.string({ format: 'date-time' }),
  day: s.string({ format: 'date' }),
  span: s.string({ format: 'duration' }),
  port: s.intOrString(),
  percent: s.intOrString({ maxLength: 4 }),
  texts: s.array(s.string()),
  few: s.array(s.string({ maxLength: 10 }), { maxItems: 5 }),
  ints: s.array(s.integer()),
  pairs: s.array(s.object({ name: s.string(), value: s.integer() })),
  optionalPairs: s.array(s.object({ name: s.optional(s.string()) })),
  lists: s.array(s.array(s.integer(), { maxItems: 3 }), { maxItems: 4 }),
  map: s.map(s.string()),
  fewPairs: s.map(s.integer(), { maxProperties: 3 }),
  object: s.object({ inner: s.object({ deep: s.optional(s.string()) }) }),
  'dash-ed': s.string({ maxLength: 3 }),
  maybe: s.optional(s.string({ maxLength: 7 })),
  count: s.optional(s.integer()),
  embedded: s.embeddedResource(),
});

/** Expressions on {@link roomyScene} with a cost that depends on sizes. */
export const roomyExpressions: readonly string[] = [
  ...['self.free == "a"', 'self.free == self.short', 'self.free < self.free', 'self.int == 1'],
  ...['self.choice == self.free', 'self.bytes == self.fewBytes', 'self.time < self.time'],
  ...[
    'string(self.bytes) == self.free',
    'bytes(self.short) == self.bytes',
    'self.object == self.object',
  ],
  ...[
    'self.port == self.percent',
    'self.free + self.short != self.free',
    'self.few + self.few == self.texts',
  ],
  ...[
    'self.texts == self.texts',
    'self.map == self.map',
    'self.day == self.day',
    'self.span < self.span',
  ],
  ...['self.texts.all(one, one.startsWith("a"))', 'self.few.exists(one, one == self.short)'],
  ...[
    'self.few.exists_one(one, one.endsWith(self.short))',
    'self.map.all(key, self.map[key] == key)',
  ],
  ...[
    'self.texts.all(one, self.texts.exists(other, one == other))',
    'self.map.exists(k, v, k == v)',
  ],
  ...['self.pairs.filter(pair, pair.value > 1).all(pair, pair.name == "a")'],
  ...['self.optionalPairs.filter(pair, has(pair.name)).map(pair, pair.name).size() < 3'],
  ...[
    'self.few.map(one, one + "x").exists(one, one == self.free)',
    'self.few.map(one, one != "a", one).size() > 1',
  ],
  ...['self.lists.all(list, list.all(one, one > 1))', 'self.lists.flatten().all(one, one > 1)'],
  ...[
    'self.lists.map(list, list.size()).sum() < 9',
    'self.lists[0][1] == 2',
    'self.few[0] == self.texts[0]',
  ],
  ...[
    'self.map["a"] == self.free',
    '[self.free, self.short][0] == self.free',
    '{"a": self.free}["a"] == "b"',
  ],
  ...[
    '[self.short, "abc"].all(one, one == self.free)',
    '{"a": self.short}.all(key, key == self.free)',
  ],
  ...[
    'self.free.replace("", self.short).size() > 1',
    'self.free.replace("ab", "c").contains(self.short)',
  ],
  ...[
    'self.free.replace("a", self.free) == self.free',
    'self.short.replace(self.short, "") == self.free',
  ],
  ...['self.free.split(",").all(part, part.size() < 3)', 'self.free.split(",", 4).size() < 4'],
  ...['self.free.split(",", -1).all(part, true)', 'self.free.split(",")[0] == self.free'],
  ...[
    'self.texts.join(",") == self.free',
    'self.few.join() == self.free',
    'self.few.join(self.short) == self.free',
    'dyn(self.few).join() == self.free',
    'dyn(self.few).join(",") == self.free',
    'self.free.split("").join() == self.free',
  ],
  ...[
    'self.free.matches("^[a-z]+$")',
    'self.short.matches(self.short)',
    'matches(self.free, "a+")',
  ],
  ...[
    'self.free.find("[0-9]+") == "1"',
    'self.free.findAll("[0-9]").size() < 2',
    'self.free.contains(self.free)',
  ],
  ...[
    'self.texts.indexOf("a") == 1',
    'self.free.indexOf("a") == 1',
    'self.ints.max() > 1',
    'self.texts.isSorted()',
  ],
  ...[
    'self.few.max() == "a"',
    'self.ints.sum() == 1',
    'self.few.sort() == self.few',
    'self.ints.sort()[0] == 1',
  ],
  ...[
    'self.pairs.sortBy(pair, pair.name)[0].value == 1',
    'self.few.sortBy(one, one.size()).size() > 1',
  ],
  ...[
    'self.few.distinct().size() == 1',
    'self.ints.reverse()[0] == 1',
    'self.few.slice(1, 2).size() == 1',
  ],
  ...[
    'lists.range(100).all(one, one < 100)',
    'lists.range(self.int).size() == 1',
    'self.ints.slice(0, self.int) == []',
  ],
  ...[
    'sets.contains(self.few, self.texts)',
    'sets.equivalent(self.few, ["a"])',
    'sets.intersects(self.few, self.few)',
  ],
  ...[
    'self.short in self.few',
    'self.free in self.map',
    'self.free in ["a", "b"]',
    'dyn(self.few).size() == 1',
  ],
  ...[
    'self.?maybe.orValue("") == self.free',
    'self.?count.orValue(1) == 1',
    'self.?maybe.hasValue()',
  ],
  ...[
    'self.?maybe.optMap(one, one + "x").hasValue()',
    'self.?maybe.optFlatMap(one, self.?maybe).hasValue()',
  ],
  ...['self.?object.inner.deep.orValue("") == "a"', 'self.texts[?0].orValue("a") == "a"'],
  ...[
    'has(self.maybe) && self.maybe == self.free',
    'self.int > 1 ? self.free == "a" : self.short == "b"',
  ],
  ...[
    '(self.int > 1 ? self.free : self.short) == self.free',
    '(self.int > 1 ? self.few : self.texts).all(one, one == "a")',
  ],
  ...[
    'quantity(self.free) == quantity(self.short)',
    'quantity(self.short).isGreaterThan(quantity("1"))',
  ],
  ...[
    'url(self.free) == url(self.short)',
    'url(self.free).getHost() == "a"',
    'isURL(self.free)',
    'url(self.short) != url("a")',
  ],
  ...[
    'ip(self.free) == ip("1.2.3.4")',
    'cidr(self.short).containsIP(self.free)',
    'ip.isCanonical(self.free)',
  ],
  ...[
    'cidr("10.0.0.0/8").containsCIDR(self.free)',
    'cidr("10.0.0.0/8").containsIP(ip("10.1.1.1"))',
    'isIP(self.free)',
  ],
  ...[
    'semver(self.free) == semver("1.2.3")',
    'format.dns1123Label().validate(self.free).hasValue()',
  ],
  ...[
    'format.named(self.free) == format.named("uri")',
    'self.free.format([self.int]) == "a"',
    'strings.quote(self.short) == self.free',
  ],
  ...[
    'strings.quote(string(self.int)) == self.free',
    'type(self.int) == int',
    'string(self.int) == self.free',
  ],
  ...[
    'self.fewPairs.transformMap(k, v, v + 1).all(k, k == self.free)',
    'self.fewPairs.transformList(k, v, k).size() > 1',
  ],
  ...[
    'self.fewPairs.transformMapEntry(k, v, {k: v}) == {}',
    'self.few.transformList(i, v, i > 1, v).join() == self.free',
  ],
  ...[
    'self.few.all(i, v, v == self.free && i < 3)',
    'self.embedded.metadata.name == self.free',
    'self.dash__dash__ed == self.free',
  ],
  ...[
    'self.short.lowerAscii() == self.free',
    'self.free.substring(0, 3) == self.free',
    'self.free.trim().upperAscii() == self.free',
  ],
  ...[
    'self == self',
    'self.few.filter(one, one != "a")[0] == self.free',
    '[1, 2].all(one, one > self.int)',
  ],
  ...[
    '[[self.free]].all(list, list.all(one, one == self.free))',
    '"é😀" == self.free',
    'b"abc" == self.bytes',
  ],
];

/** Schemas of whole definitions near or above a budget. */
export const costDefinitions: Readonly<Record<string, Schema>> = {
  'a rule without loops is cheap': withSpec(s.object({ name: s.string() }), ['self.name != ""']),
  'a loop over a list without a limit': withSpec(s.object({ names: s.array(s.string()) }), [
    'self.names.all(one, one.matches("^[a-z]+$"))',
  ]),
  'limits make it cheap': withSpec(
    s.object({ names: s.array(s.string({ maxLength: 63 }), { maxItems: 16 }) }),
    ['self.names.all(one, one.matches("^[a-z]+$"))'],
  ),
  'a limit of the items alone is not enough': withSpec(
    s.object({ names: s.array(s.string(), { maxItems: 16 }) }),
    ['self.names.all(a, self.names.all(b, a == b))'],
  ),
  'a loop in a loop': withSpec(s.object({ names: s.array(s.string({ maxLength: 10 })) }), [
    'self.names.all(a, self.names.exists(b, a == b))',
  ]),
  'a pattern over few texts without a limit': withSpec(
    s.object({ names: s.array(s.string(), { maxItems: 5 }) }),
    ['self.names.all(one, one.contains("a") || one.matches("^[a-z]{20}$"))'],
  ),
  'a rule of items of a list without a limit': withRules(
    s.object({
      spec: s.object({
        items: s.array(ruled(s.object({ name: s.string() }), ['self.name != ""'])),
      }),
    }),
  ),
  'an expensive rule of items': withRules(
    s.object({
      spec: s.object({
        items: s.array(ruled(s.object({ name: s.string() }), ['self.name.matches("^[a-z]+$")'])),
      }),
    }),
  ),
  'what is required makes items fewer': withRules(
    s.object({
      spec: s.object({
        items: s.array(
          ruled(s.object({ aRatherLongNameOfAProperty: s.string(), andAnotherOne: s.integer() }), [
            'self.andAnotherOne > 1 && self.andAnotherOne < 7 && self.aRatherLongNameOfAProperty != ""',
          ]),
        ),
      }),
    }),
  ),
  'a rule of the values of a map': withRules(
    s.object({ spec: s.object({ map: s.map(ruled(s.string(), ['self.startsWith("a")'])) }) }),
  ),
  'maps in lists multiply': withRules(
    s.object({
      spec: s.object({
        list: s.array(
          s.object({
            map: s.map(ruled(s.string({ maxLength: 100 }), ['self.contains("a")']), {
              maxProperties: 1000,
            }),
          }),
          { maxItems: 1000 },
        ),
      }),
    }),
  ),
  'many rules that are too much together': withSpec(
    s.object({ names: s.array(s.string({ maxLength: 63 }), { maxItems: 1000 }) }),
    Array.from(
      { length: 24 },
      (_, index) =>
        `self.names.all(a, self.names.size() != ${index} && a.matches("${'x'.repeat(900 + 4 * index)}"))`,
    ),
  ),
  'a message that is too expensive': withRules(
    s.object({
      spec: s.typed<object>({
        ...s.object({ names: s.array(s.string()) }),
        'x-kubernetes-validations': [
          {
            rule: 'self.names.size() < 3',
            messageExpression: '"too many: " + self.names.join(self.names[0])',
          },
        ],
      }),
    }),
  ),
  'a message that is too expensive only for all of the items': withRules(
    s.object({
      spec: s.object({
        items: s.array(
          s.typed<object>({
            ...s.object({ name: s.string() }),
            'x-kubernetes-validations': [{ rule: 'true', messageExpression: 'self.name' }],
          }),
        ),
      }),
    }),
  ),
  'a transition rule': withSpec(s.object({ names: s.array(s.string()) }), [
    'oldSelf.names.all(one, one in self.names)',
  ]),
  'a rule of the root': withRules(
    ruled(s.object({ spec: s.object({}) }), ['self.metadata.name.matches("^[a-z]+$")']),
  ),
  'a pattern over a text without a limit': withSpec(s.object({ text: s.string() }), [
    'self.text.matches("^([a-z]+[0-9]+-){1,7}$")',
  ]),
  'a long pattern over a text without a limit': withSpec(s.object({ text: s.string() }), [
    `self.text.matches("^${'[a-z]'.repeat(40)}$")`,
  ]),
};

function ruled(schema: Schema, rules: readonly string[]) {
  const validations: SchemaRule[] = rules.map((rule) => ({ rule }));
  return s.typed<object>({ ...schema, 'x-kubernetes-validations': validations });
}

function withSpec(spec: Schema, rules: readonly string[]): Schema {
  return withRules(s.object({ spec: ruled(spec, rules) }));
}

function withRules(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema)) as Schema;
}
