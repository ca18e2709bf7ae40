import { createHash } from 'node:crypto';

/**
 * Files that are made anew say so, with a hash of the rest, so that a change by hand is not lost: in
 * their first line, or in JSON as `$comment`.
 */
const said = /Made by `operator-builder helm` \(([0-9a-f]{16})\)/;

/** How a file can say that it is made. */
type CommentStyle = 'template' | 'json';

const styleOf = (path: string): CommentStyle => (path.endsWith('.json') ? 'json' : 'template');

/** The text of a file that says that it is made. */
export function madeText(path: string, text: string): string {
  const sentence = `Made by \`operator-builder helm\` (${hashOf(text)}): what is changed here is not made anew.`;
  if (styleOf(path) === 'json') {
    return text.replace('{', `{\n  "$comment": ${JSON.stringify(sentence)},`);
  }
  return path.startsWith('templates/')
    ? `{{- /* ${sentence} */ -}}\n${text}`
    : `# ${sentence}\n${text}`;
}

/** Whether a file is as it was made. */
export function isAsMade(path: string, text: string): boolean {
  const [, hash] = said.exec(text) ?? [];
  return hash !== undefined && hash === hashOf(restOf(path, text));
}

function restOf(path: string, text: string): string {
  if (styleOf(path) === 'json') return text.replace(/\n {2}"\$comment": .*,/, '');
  return text.slice(text.indexOf('\n') + 1);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex').slice(0, 16);
}
