import { expect } from 'chai';
import type { CommandContext } from '../../../lib/cli/command-context.js';
import { readResources } from '../../../lib/cli/object-files.js';

function read(text: string): Promise<unknown> {
  const context = { cwd: '.', readStdin: () => Promise.resolve(text) };
  return readResources(['-'], context as CommandContext);
}

describe('readResources', () => {
  it('refuses a text that nests too deeply, directly or by aliases', async () => {
    const nested = (from: string): string => '['.repeat(300) + from + ']'.repeat(300);
    const aliased = `a: &a 1\nb: &b ${nested('*a')}\nc: ${nested('*b')}`;
    const object = 'apiVersion: v1\nkind: Box\nmetadata: { name: a }';
    for (const text of ['{a: '.repeat(5_000), '? '.repeat(5_000), `${object}\n${aliased}`]) {
      const error: unknown = await read(text).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'TooDeep' });
    }
    expect(await read(object)).to.have.length(1);
  });
});
