import { dirname, relative, resolve } from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { CommandContext } from '../command-context.js';
import { replaceText, whileWriting } from '../files.js';
import { objectsText } from '../object-texts.js';
import type { Output } from '../options.js';
import { builtOverlay } from './overlay.js';
import type { OverlayOptions } from './overlay.js';

/** Options of `operator-builder build-installer`. */
export interface InstallerOptions extends OverlayOptions {
  /** Path in the project's folder; `-`: the standard output. */
  readonly out: string;
  readonly output: Output;
}

/**
 * Writes all objects of an overlay to one file, in an order that can be applied.
 * @throws OperatorError `InvalidConfig`: the overlay can't be built, or the file can't be written
 */
export async function buildInstaller(
  options: InstallerOptions,
  context: CommandContext,
): Promise<void> {
  const { folder, objects } = await builtOverlay(options, context);
  const text = objectsText(objects);
  const { out, output } = options;
  if (out === '-') {
    context.stdout.write(text);
    return;
  }
  const file = resolve(folder, out);
  await whileWriting(file, () => mkdir(dirname(file), { recursive: true }));
  await replaceText(file, text);
  const named = objects.map(({ kind, metadata: { name = '', namespace } }) => {
    return { kind, namespace, name };
  });
  const said = relative(context.cwd, file);
  context.stdout.write(
    output === 'json'
      ? `${JSON.stringify({ file, objects: named }, undefined, 2)}\n`
      : `wrote ${said}: ${objects.length} objects\n\nNext:\n  kubectl apply --server-side -f ${said}\n`,
  );
}
