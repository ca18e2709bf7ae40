import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { eventually } from '../../lib/testing/index.js';
import { scratchDirectory, startCli } from './cli.js';
import { hangingPlan } from './hanging-plan.js';
import { makeProject, textsIn } from './scaffold/project.js';

describe('An interrupted command', () => {
  const file = scratchDirectory();
  const plan = hangingPlan(file);

  it('exits with 130 and prints one message', async () => {
    const planning = startCli(plan.args());
    await plan.whileItHangs(() => planning.stop());
    const { code, stdout, stderr } = await planning.ended;
    expect({ code, stdout }, stderr).to.deep.equal({ code: 130, stdout: '' });
    expect(stderr).to.match(/^error: [^\n]*\n$/);
  });

  it('does not change a project', async () => {
    const made = startCli(['init', '--domain', 'example.com', '--name', 'a', '-C', file('new')]);
    made.stop();
    expect(await made.ended).to.include({ code: 130, stdout: '' });
    expect(await readdir(file())).to.not.include('new');
    await makeProject(file('old'));
    const before = await textsIn(file('old'));
    const named = ['--group', 'shop', '--version', 'v1', '--kind', 'Shop'];
    const created = startCli(['create', 'api', ...named, '-C', file('old')]);
    created.stop();
    const { code, stderr } = await created.ended;
    expect({ code, stderr }).to.deep.equal({
      ...{ code: 130, stderr: 'error: stopped: nothing was written\n' },
    });
    expect(await textsIn(file('old'))).to.deep.equal(before);
  });

  it('records the files that it had already written', async () => {
    await makeProject(file('late'));
    const named = ['--group', 'shop', '--version', 'v1', '--kind', 'Shop'];
    const created = startCli(['create', 'api', ...named, '-C', file('late')]);
    await eventually(() => expect(created.written().stdout).to.include('created src/api/v1'));
    created.stop();
    expect(await created.ended).to.include({ code: 0, stderr: '' });
    const recorded = await readdir(file('late/.operator-builder/templates/src/api/v1'));
    expect(recorded).to.deep.equal(['shop.ts.txt']);
  });
});
