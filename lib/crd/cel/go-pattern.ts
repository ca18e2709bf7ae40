// Compiled patterns, by their source; few are ever used in one process, and none is written into.
const compiled = new Map<string, RegExp | undefined>();
const mostCompiled = 1000;

const classes: Readonly<Partial<Record<string, string>>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/**
 * A pattern of Go's `regexp` as JavaScript's; undefined: Go does not take it, or JavaScript can't
 * say it. The two differ in some ways that are translated: named groups, `\z`, `\A`, `\Q…\E`,
 * `[[:alpha:]]`, flags at the start, what `.`, `\s` and `\d` stand for.
 */
export function goPattern(source: string): RegExp | undefined {
  if (compiled.has(source)) return compiled.get(source);
  if (compiled.size >= mostCompiled) compiled.clear();
  const pattern = compile(source);
  compiled.set(source, pattern);
  return pattern;
}

function compile(source: string): RegExp | undefined {
  // What JavaScript has and Go has not: looking around, and back.
  if (/\(\?<?[=!]|\\[1-9]|\\k</.test(source.replaceAll('\\\\', ''))) return undefined;
  const [, flags = ''] = /^\(\?([ims]+)\)/.exec(source) ?? [];
  const body = flags === '' ? source : source.slice(flags.length + 3);
  const text = translate(body);
  try {
    return new RegExp(text, `${flags}u`);
  } catch {
    try {
      // Without `u` more escapes are allowed, as in Go.
      return new RegExp(text, flags);
    } catch {
      return undefined;
    }
  }
}

const tokens = /\\Q([\s\S]*?)(?:\\E|$)|\\([\s\S])|\(\?P<|\[:(\^?)([a-z]+):\]|\[\^?\]?|\]|\./g;

function translate(source: string): string {
  let inClass = false;
  return source.replaceAll(tokens, (token: string, literal?: string, escaped?: string, ...rest) => {
    const [negated, name] = rest as [string | undefined, string | undefined];
    if (literal !== undefined) return literal.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
    if (escaped !== undefined) return translateEscape(escaped, inClass);
    if (token === '(?P<') return inClass ? token : '(?<';
    if (name !== undefined && negated === '') return classes[name] ?? token;
    if (token === '.') return inClass ? token : '[^\\n]';
    if (token === ']') {
      inClass = false;
      return token;
    }
    if (inClass) return token.replace('[', '\\[');
    inClass = true;
    return token.endsWith(']') ? `${token.slice(0, -1)}\\]` : token;
  });
}

function translateEscape(escaped: string, inClass: boolean): string {
  switch (escaped) {
    case 'z':
      return '$';
    case 'A':
      return '^';
    case 's':
      return inClass ? '\\t\\n\\f\\r ' : '[\\t\\n\\f\\r ]';
    case 'S':
      return inClass ? '\\S' : '[^\\t\\n\\f\\r ]';
    case 'a':
      return '\\x07';
    default:
      return `\\${escaped}`;
  }
}
