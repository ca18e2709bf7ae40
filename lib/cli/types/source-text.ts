/** The width of lines in generated modules. */
export const lineWidth = 100;

/** Whether a name needs no quotes as the key of an object. */
export function isIdentifier(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}

/** A value in source text whose type TypeScript would not find by itself. */
export class TypedValue {
  readonly value: object;
  readonly type: string;

  constructor(value: object, type: string) {
    this.value = value;
    this.type = type;
  }
}

/**
 * Returns a JSON value as source text: keys without quotes where possible, strings in single quotes, lists in one
 * line if they fit.
 * @param prefix - the text before the value in its line
 */
export function literal(value: unknown, prefix = ''): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return listText(value as readonly unknown[], prefix);
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof TypedValue) return `${literal(value.value, prefix)} satisfies ${value.type}`;
  const indent = indentOf(prefix);
  const members = memberLines(value, `${indent}  `);
  return members.length === 0 ? '{}' : ['{', ...members, `${indent}}`].join('\n');
}

/** Returns a line `key: value,` for each member of an object that is not undefined. */
export function memberLines(object: object, indent: string): readonly string[] {
  return Object.entries(object)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => {
      const key = `${indent}${keyText(name)}: `;
      const text = literal(member, key);
      const isLong = typeof member === 'string' && key.length + text.length >= lineWidth;
      // Formats as Prettier does: below a key of fewer than five characters, a new line would gain nothing.
      return isLong && keyText(name).length >= 5
        ? `${key.trimEnd()}\n${indent}  ${text},`
        : `${key}${text},`;
    });
}

function listText(values: readonly unknown[], prefix: string): string {
  const indent = indentOf(prefix);
  const items = values.map((value) => literal(value, `${indent}  `));
  const line = `[${items.join(', ')}]`;
  const isShort = prefix.length + line.length < lineWidth && !line.includes('\n');
  if (isShort) return line;
  return ['[', ...items.map((item) => `${indent}  ${item},`), `${indent}]`].join('\n');
}

function indentOf(prefix: string): string {
  return ' '.repeat(prefix.search(/\S|$/));
}

// `__proto__: x` in source text would set the prototype.
function keyText(name: string): string {
  if (name === '__proto__') return "['__proto__']";
  return isIdentifier(name) ? name : quoted(name);
}

function quoted(text: string): string {
  const json = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
  const countOf = (quote: string): number => text.split(quote).length;
  if (countOf("'") > countOf('"')) return `"${json}"`;
  return `'${json.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** Line ends of Unicode, and spaces that linters refuse in source text. */
const lineEnds = /\r\n?|[\u0085\u2028\u2029]/g;
const irregularSpaces = /[\v\f\u00a0\u1680\u180e\u2000-\u200b\u202f\u205f\u3000\ufeff]/g;

/** Returns the lines of a doc comment; none without a text. */
export function comment(text: string | undefined, indent: string): readonly string[] {
  const regular = (text ?? '').replaceAll(lineEnds, '\n').replaceAll(irregularSpaces, ' ');
  const paragraphs = regular.trim().replaceAll('*/', '*\\/').split('\n');
  const lines = paragraphs.flatMap((line) =>
    wrapped(line.trimEnd(), lineWidth - indent.length - 3),
  );
  const [first = '', ...more] = lines;
  if (first === '') return [];
  if (more.length === 0) return [`${indent}/** ${first} */`];
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

function wrapped(text: string, limit: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > limit && line !== '') {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
