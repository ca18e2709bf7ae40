import picocolors from 'picocolors';
import type { CommandContext } from '../command-context.js';
import type { ObjectNews } from './object-news.js';

/** Writes what happens, a line each, for people. */
export interface NewsLines {
  /** Something that is no object's. */
  say(text: string): void;
  tell(news: ObjectNews): void;
}

/** Lines on the standard output; in colours, where it is a terminal. */
export function newsLines({ stdout, env }: CommandContext): NewsLines {
  const isColored = stdout.columns !== undefined && (env['NO_COLOR'] ?? '') === '';
  const colors = picocolors.createColors(isColored);
  const marks: Readonly<Record<ObjectNews['mark'], string>> = {
    created: colors.green('+'),
    changed: colors.yellow('~'),
    removed: colors.red('-'),
    noted: colors.dim('·'),
    warned: colors.red('!'),
  };
  return {
    say: (text) => void stdout.write(`${text}\n`),
    tell: ({ mark, text, detail }) => {
      const rest = detail === '' ? '' : `  ${colors.dim(detail)}`;
      stdout.write(`${marks[mark]} ${text}${rest}\n`);
    },
  };
}
