/** The result of a scan of a JSON text without building values. */
export interface JsonScan {
  /** JSON paths of duplicate members. */
  readonly duplicates: readonly string[];
  readonly depth: number;
}

interface Level {
  /** The names so far in an object; undefined in an array. */
  readonly names: Set<string> | undefined;
  /** The path of this object or array. */
  readonly path: string;
  index: number;
  /** The member whose value is next. */
  member: string;
}

/**
 * Finds duplicate members and the depth of `text`, which must be JSON. It uses its own stack, so
 * that deep nesting cannot overflow JavaScript's.
 */
export function scanJson(text: string): JsonScan {
  const duplicates: string[] = [];
  const levels: Level[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === 0x22) {
      const end = endOfString(text, at);
      if (level?.names !== undefined && isName(text, end)) {
        enterMember(level, text.slice(at, end + 1), duplicates);
      }
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      const names = code === 0x7b ? new Set<string>() : undefined;
      levels.push({ names, path: level === undefined ? '' : pathIn(level), index: 0, member: '' });
      depth = Math.max(depth, levels.length);
    } else if (code === 0x7d || code === 0x5d) {
      levels.pop();
    } else if (code === 0x2c && level !== undefined) {
      level.index++;
    }
  }
  return { duplicates, depth };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote;
    at = quote + 1;
  }
}

function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === 0x3a;
}

function enterMember(level: Level, quotedName: string, duplicates: string[]): void {
  const name = quotedName.includes('\\')
    ? (JSON.parse(quotedName) as string)
    : quotedName.slice(1, -1);
  level.member = name;
  if (level.names?.has(name) === true) duplicates.push(pathIn(level));
  level.names?.add(name);
}

function pathIn({ names, path, index, member }: Level): string {
  if (names === undefined) return `${path}[${index}]`;
  return path === '' ? member : `${path}.${member}`;
}
