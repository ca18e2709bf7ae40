import { expect } from 'chai';
import { isInvalidConfig } from '../../lib/resource/errors.js';
import { processUpdate } from '../../lib/resource/process.js';
import type { Resource } from '../../lib/resource/resource-set.js';
import { withLogging } from '../../lib/resource/wrap.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Notes, newPass, tenant, updateSteps } from './chain-setup.js';

const away = new Error('the cloud is away');
const failAlways = (): never => {
  throw away;
};

describe('withLogging', () => {
  async function linesOf(resource: Resource): Promise<string[]> {
    const lines: LogLine[] = [];
    const context = newPass({ logger: rememberingLogger(lines), clock: new VirtualClock() });
    await processUpdate(context, tenant, [resource]).catch(() => undefined);
    expect(lines.every(({ fields }) => fields['resource'] === 'r')).to.be.true;
    return lines.map(({ level, message }) => `${level} ${message}`);
  }

  it('logs the start and the end of each step at level debug', async () => {
    expect(await linesOf(withLogging(new Notes().crud('r')))).to.deep.equal(
      updateSteps.flatMap((step) => [`debug r, ${step}: started`, `debug r, ${step}: ended`]),
    );
  });

  it('logs an error at level warn, and steps at the level of its option', async () => {
    const resource = new Notes().plain('r', { ensureCreated: failAlways });
    expect(await linesOf(withLogging(resource, { level: 'info' }))).to.deep.equal([
      'info r, ensureCreated: started',
      'warn r, ensureCreated: failed: the cloud is away',
    ]);
  });

  it('logs a conflict at level debug', async () => {
    const error = new OperatorError('Fenced', 'the lease is not fresh');
    const resource = new Notes().plain('r', { ensureCreated: () => Promise.reject(error) });
    expect((await linesOf(withLogging(resource))).at(-1)).to.match(/^debug .*failed/);
  });

  it('logs no states or changes', async () => {
    const secret = { password: 'hunter2' };
    const acts = { getCurrentState: () => secret, getDesiredState: () => secret };
    const lines: LogLine[] = [];
    const context = newPass({ logger: rememberingLogger(lines) });
    await withLogging(new Notes().crud('r', acts)).ensureCreated(context, tenant);
    expect(JSON.stringify(lines)).to.not.contain('hunter2');
  });

  it('rejects an unknown level', () => {
    expect(() => withLogging(new Notes().plain('r'), { level: 'loud' as 'info' }))
      .to.throw('got loud')
      .that.satisfies(isInvalidConfig);
  });
});
