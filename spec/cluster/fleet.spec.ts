import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { FleetReport } from '../../bench/fleet/index.js';

const size = 100;
const bench = ['--import', 'tsx', 'bench/index.ts', 'fleet'];
const writeVerbs = ['create', 'update', 'patch', 'delete', 'deletecollection'];

describe('an operator with 100 resources of four objects each, on a real control plane', () => {
  let report: FleetReport;

  before(async function () {
    this.timeout(600_000);
    // The benchmark runs the built package, as users do.
    if (!existsSync('dist/index.js')) await promisify(execFile)('npm', ['run', 'build']);
    const peers = '--fleet-peers=operator-builder,controller-runtime';
    const run = promisify(execFile)(process.execPath, [...bench, `--fleet-sizes=${size}`, peers]);
    const { stdout } = await run;
    process.stdout.write(stdout);
    report = JSON.parse(await readFile('bench/results/fleet.json', 'utf8')) as FleetReport;
  });

  function requests(phase: string): Readonly<Record<string, number>> {
    const ours = report.results.find(({ peer }) => peer === 'operator-builder');
    const found = ours?.phases.find((each) => each.phase === phase);
    if (found === undefined) throw new Error(`the report has no phase ${phase}`);
    return found.requests;
  }

  function writesEach(phase: string): number {
    const made = requests(phase);
    return writeVerbs.reduce((sum, verb) => sum + (made[verb] ?? 0), 0) / size;
  }

  it('creates each object with one write and no read', () => {
    expect(writesEach('create')).to.equal(4);
    expect(requests('create')).to.not.have.any.keys('get', 'list');
  });

  it('sends no requests except those for its Lease while nothing changes', () => {
    expect(requests('idle, 10 s')).to.have.all.keys('leases');
  });

  it('writes nothing when a change of the resources does not change their objects', () => {
    expect(requests('no-op')).to.have.all.keys('leases');
  });

  it('rolls out a change of the resources with two writes per resource', () => {
    expect(writesEach('roll')).to.equal(2);
    expect(requests('roll')).to.not.have.any.keys('get', 'list');
  });

  it('lets the next leader write later changes after it stops', () => {
    expect(writesEach('fail-over')).to.equal(2 / size);
  });
});
