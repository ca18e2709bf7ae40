import { expect } from 'chai';
import { copyFile } from 'node:fs/promises';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { systemRandom } from '../../lib/system/random.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { linkPackages } from '../cli/project/project-copy.js';
import { createApi } from '../cli/scaffold/project.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { findFreePort } from './control-plane/free-ports.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';
import { ProjectOperator } from './project-operator.js';

/** Response of the metrics endpoint. */
interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

describe('metrics of a generated project on a real API server', () => {
  const file = scratchDirectory();
  const name = `scraped-${systemRandom.uuid().slice(0, 6)}`;
  const namespace = `${name}-system`;
  const overlay = (): string => file(name, 'config/default');
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let kubectl: Kubectl;
  let operator: ProjectOperator | undefined;
  let port: number;

  before(async () => {
    plane = await sharedControlPlane();
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    kubectl = await Kubectl.create((path) => copyFile(plane.kubeConfigPath, path));
    await makeProject();
    await kubectl.print(['apply', '-k', overlay()]);
    port = await findFreePort();
    const options = ['--metrics-auth', `--metrics-port=${port}`];
    operator = await ProjectOperator.start({ folder: file(name), name, plane, admin, options });
  });

  after(async () => {
    await operator?.stop();
    await kubectl.run(['delete', 'clusterrolebinding', `${name}-scrapers`, '--ignore-not-found']);
    await kubectl.run(['delete', '-k', overlay(), '--wait=false']);
    await kubectl.close();
    await admin.close();
  });

  async function makeProject(): Promise<void> {
    await cli(['init', '--domain', `${name}.example`, '--name', name, '-C', file(name)]);
    expect(await createApi(file(name), 'Shop')).to.include({ code: 0 });
    linkPackages(file(name));
  }

  function scrape(token?: string): Promise<Answer> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    // As in config/prometheus, the operator's certificate is not verified, since it is self-signed.
    const options = { host: '127.0.0.1', port, path: '/metrics', rejectUnauthorized: false };
    return new Promise((resolve, reject) => {
      const asked = request({ ...options, headers }, (response) => {
        text(response).then((body) => {
          resolve({ status: response.statusCode, body });
        }, reject);
      });
      asked.on('error', reject);
      asked.end();
    });
  }

  /** Returns a token of a new ServiceAccount, as Prometheus uses. */
  async function tokenOf(account: string): Promise<string> {
    await kubectl.print(['-n', namespace, 'create', 'serviceaccount', account]);
    return (await kubectl.print(['-n', namespace, 'create', 'token', account])).trim();
  }

  it('are not served without a token that the API server accepts', async () => {
    const answer = await eventually(() => {
      operator?.check();
      return scrape();
    }, 60_000);
    expect(answer).to.include({ status: 401 });
    expect(answer.body).to.not.include('# HELP');
    expect(await scrape('made-up')).to.include({ status: 401 });
  });

  it('are not served to an account without permission', async () => {
    const answer = await scrape(await tokenOf('curious'));
    expect(answer).to.include({ status: 403 });
    expect(answer.body).to.not.include('# HELP');
  });

  it('are served to an account with the role <name>-metrics-reader', async () => {
    const token = await tokenOf('scraper');
    const who = [`--clusterrole=${name}-metrics-reader`, `--serviceaccount=${namespace}:scraper`];
    await kubectl.print(['create', 'clusterrolebinding', `${name}-scrapers`, ...who]);
    // A binding takes effect some time later, because the API server receives it by a watch.
    const { body } = await eventually(async () => {
      const answer = await scrape(token);
      expect(answer).to.include({ status: 200 });
      return answer;
    }, 60_000);
    expect(body).to.include('# HELP').and.include('rest_client_requests_total{');
  });

  it('are enabled by the arguments of the Deployment', async () => {
    const args = ['get', 'deployment', `${name}-controller-manager`, '-o', 'yaml'];
    expect(await kubectl.print(['-n', namespace, ...args])).to.include('- --metrics-auth\n');
  });

  it("need no permissions beyond the project's roles", async () => {
    expect(await operator?.stop(), operator?.output).to.equal(0);
    const requests = await plane.auditLog.read({ user: operator?.user ?? '' });
    const refused = requests.filter(({ code }) => code === 403);
    expect(refused.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
    const reviews = requests.filter(({ verb, code }) => verb === 'create' && code === 201);
    expect(reviews.map(({ resource }) => resource)).to.include.members([
      ...['tokenreviews', 'subjectaccessreviews', 'secrets'],
    ]);
  });
});
