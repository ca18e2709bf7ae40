import { expect } from 'chai';
import { stepsOf } from '../../../scripts/docs/walk/page-steps.js';

const fence = (info: string, text: string): string => `\`\`\`${info}\n${text}\`\`\`\n`;

describe('the steps on a page of the documentation', () => {
  it('are the commands with their output, the files and the changes of files on the page, in order', () => {
    const page = [
      '# A page\n',
      fence('sh', 'npm test\n'),
      fence('text output', 'fine\n'),
      fence('ts file=src/main.ts', 'export {};\n'),
      fence('sh start', 'npm start\n'),
      '<!-- walk: stop -->\n',
      fence('diff file=src/main.ts', '+// more\n export {};\n'),
      fence('sh exit=2', 'npm run plan\n'),
      fence('sh cluster', 'kubectl get pods\n'),
      fence('sh unchecked', 'docker build .\n'),
    ].join('\n');
    const command = { type: 'run', exitCode: 0, isLeftRunning: false, where: 'here' } as const;
    const none = { output: undefined };
    expect(stepsOf(page)).to.deep.equal([
      { ...command, line: 3, script: 'npm test\n', output: 'fine\n' },
      { type: 'write', line: 11, path: 'src/main.ts', text: 'export {};\n' },
      { ...command, ...none, line: 15, script: 'npm start\n', isLeftRunning: true },
      { type: 'stop', line: 19 },
      { type: 'edit', line: 21, path: 'src/main.ts', diff: '+// more\n export {};\n' },
      { ...command, ...none, line: 26, script: 'npm run plan\n', exitCode: 2 },
      { ...command, ...none, line: 30, script: 'kubectl get pods\n', where: 'cluster' },
      { ...command, ...none, line: 34, script: 'docker build .\n', where: 'nowhere' },
    ]);
  });

  it('do not include code blocks that are only shown', () => {
    const shown = ['ts', 'ts run', 'yaml', 'text'].map((info) => fence(info, 'text\n'));
    expect(stepsOf(shown.join('\n'))).to.deep.equal([]);
  });

  for (const [what, page] of [
    ['unknown words of a command', fence('sh strat', 'npm start\n')],
    ['unknown words of a file', fence('ts file=a.ts twice', '\n')],
    ['unknown instructions', '<!-- walk: pause -->\n'],
    ['output without a command', fence('text output', 'fine\n')],
  ] as const) {
    it(`are rejected for ${what}, with the number of the line`, () => {
      expect(() => stepsOf(`\n${page}`)).to.throw('line 2: ');
    });
  }
});
