import { createHash } from 'node:crypto';

/**
 * Generated files carry a hash of their content, so that changes by hand are not lost: in the first line, or
 * in JSON as `$comment`.
 */
const said = /Made by `operator-builder helm` \(([0-9a-f]{16})\)/;

/** The form of the comment in a generated file. */
type CommentStyle = 'template' | 'json';

const styleOf = (path: string): CommentStyle => (path.endsWith('.json') ? 'json' : 'template');

/** Returns the text of a file with the comment of a generated file. */
export function madeText(path: string, text: string): string {
  const sentence = `Made by \`operator-builder helm\` (${hashOf(text)}): changed content is kept when the chart is updated.`;
  if (styleOf(path) === 'json') {
    return text.replace('{', `{\n  "$comment": ${JSON.stringify(sentence)},`);
  }
  return path.startsWith('templates/')
    ? `{{- /* ${sentence} */ -}}\n${text}`
    : `# ${sentence}\n${text}`;
}

/** Whether a generated file is unchanged since its generation. */
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
