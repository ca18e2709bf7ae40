import { expect } from 'chai';
import type { CommandContext } from '../../../lib/cli/command-context.js';
import { readResources } from '../../../lib/cli/object-files.js';

function read(text: string): Promise<readonly object[]> {
  const context = { cwd: '.', readStdin: () => Promise.resolve(text) };
  return readResources(['-'], context as CommandContext);
}

describe('readResources', () => {
  it('refuses YAML that nests too deeply, directly or by aliases', async () => {
    const nested = (from: string): string => '['.repeat(300) + from + ']'.repeat(300);
    const aliased = `a: &a 1\nb: &b ${nested('*a')}\nc: ${nested('*b')}`;
    const object = 'apiVersion: v1\nkind: Box\nmetadata: { name: a }';
    for (const text of ['{a: '.repeat(5_000), '? '.repeat(5_000), `${object}\n${aliased}`]) {
      const error: unknown = await read(text).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'TooDeep' });
    }
    expect(await read(object)).to.have.length(1);
  });

  it("reads plain scalars and merge keys as Kubernetes' tools do", async () => {
    const lines = ['a: yes', 'b: off', 'c: 0644', "d: 'no'", 'e: &e { f: 1 }', 'g: { <<: *e }'];
    const object = ['apiVersion: v1', 'kind: Box', 'metadata: { name: a }', 'spec:'];
    const [box] = await read([...object, ...lines.map((line) => `  ${line}`)].join('\n'));
    const spec = { a: true, b: false, c: 0o644, d: 'no', e: { f: 1 }, g: { f: 1 } };
    expect(box).to.deep.include({ spec });
  });

  it('names the file that has an alias without an anchor', async () => {
    const error: unknown = await read('a: { <<: *b }').catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'InvalidConfig' });
    expect(error).to.have.property('message').that.matches(/^-: /);
  });
});
