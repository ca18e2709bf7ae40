import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { cli, scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { makeProject } from '../scaffold/project.js';

const run = promisify(execFile);

/** Writes shell scripts by name, as programs on the PATH. */
async function writePrograms(
  folder: string,
  scripts: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(`${folder}/${name}`, `#!/bin/sh\n${script}\n`);
    await chmod(`${folder}/${name}`, 0o755);
  }
}

const pathWith = (folder: string): string => folder + delimiter + (process.env['PATH'] ?? '');

// Replaces npm: links the packages, and prints the files of a build step.
const npm = `case "$1" in
  ci) test -f package-lock.json && ls *.tgz 2>/dev/null; ln -s "$PROJECT_MODULES" node_modules ;;
  install) test -f package.json && ln -s "$PROJECT_MODULES" node_modules ;;
  run)
    find . -path ./node_modules -prune -o -type f -print
    if test -f build.js; then node build.js
    else
      PATH="$PROJECT_MODULES/esbuild/bin:$PATH"
      sh -c "$(node -p 'JSON.parse(fs.readFileSync("package.json")).scripts.build')"
    fi ;;
esac`;

describe('The image of a project', () => {
  const file = scratchDirectory();
  const builder = resolve('scripts/docs/walk/build-image.js');

  /** Copies the files that git tracks, like a clean checkout. */
  async function checkout(folder: string): Promise<string> {
    const git = (...args: readonly string[]) => run('git', args, { cwd: folder });
    await writeFile(`${folder}/package-lock.json`, '{}');
    await git('init', '--quiet');
    await git('add', '.');
    const { stdout } = await git('ls-files');
    const clean = `${folder}-checkout`;
    for (const path of stdout.trim().split('\n')) {
      await mkdir(dirname(`${clean}/${path}`), { recursive: true });
      await cp(`${folder}/${path}`, `${clean}/${path}`);
    }
    return clean;
  }

  async function buildImage(folder: string): Promise<string> {
    await mkdir(file('packages'), { recursive: true });
    linkPackages(file('packages', folder));
    const clean = await checkout(file(folder));
    await writePrograms(file('bin'), { npm });
    const modules = file('packages', folder, 'node_modules');
    const env = { ...process.env, PATH: pathWith(file('bin')), PROJECT_MODULES: modules };
    const { stdout } = await run(process.execPath, [builder, 'build', '-t', 'a', '.'], {
      ...{ cwd: clean, env },
    });
    return stdout;
  }

  const init = (folder: string, ...args: readonly string[]) =>
    cli(['init', '--domain', 'example.com', '--name', 'shops', '-C', file(folder), ...args]);

  it('is built from a fresh checkout, with the package from a registry', async () => {
    expect(await init('registry')).to.include({ code: 0 });
    expect(await buildImage('registry')).to.include('Usage: shops [options]');
  });

  it('is built from a fresh checkout, with the package from a tarball', async () => {
    await writeFile(file('operator-builder-0.1.0.tgz'), '');
    const tarball = ['--package', '../operator-builder-0.1.0.tgz'];
    expect(await init('tarball', ...tarball)).to.include({ code: 0 });
    const stdout = await buildImage('tarball');
    expect(stdout)
      .to.match(/^operator-builder-0\.1\.0\.tgz\n/)
      .and.include('Usage: shops');
  });

  it('is built from the manifests for declarative operators, and runs operator-builder', async () => {
    const operator = resolve('samples/declarative/service-health/operator.yaml');
    const made = await cli(['declarative', 'manifests', operator, '-d', file('declarative')]);
    expect(made, made.stderr).to.include({ code: 0 });
    expect(await buildImage('declarative')).to.include('Usage: operator-builder [options]');
  });

  it('excludes secrets from its build context, even if they are committed', async () => {
    const secrets = ['.env', 'src/.env.local', 'kubeconfig', 'dev/prod.kubeconfig', '.kube/config'];
    await init('secrets');
    await writeFile(file('secrets/.gitignore'), '');
    for (const path of secrets) {
      await mkdir(dirname(file('secrets', path)), { recursive: true });
      await writeFile(file('secrets', path), 'secret');
    }
    // A source file whose name is similar to that of a secret.
    await writeFile(file('secrets/src/kubeconfig.ts'), 'export {};');
    const files = (await buildImage('secrets')).split('\n');
    expect(files).to.include.members(['./src/main.ts', './src/kubeconfig.ts']);
    expect(files.filter((path) => secrets.includes(path.slice(2)))).to.deep.equal([]);
    expect(files.filter((path) => /^\.\/(?:test|config|\.git)\//.test(path))).to.deep.equal([]);
  });
});

describe('The end-to-end test of a project', () => {
  const file = scratchDirectory();

  before(async () => {
    await makeProject(file('shops'), ['Shop']);
    linkPackages(file('shops'));
  });

  async function runTest(path: string): Promise<string> {
    const { scripts } = JSON.parse(await readFile(file('shops/package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    // The environment leaves out the variables of the test runner that runs this process.
    const env = { PATH: path, HOME: file() };
    const { stdout } = await run('/bin/sh', ['-c', scripts['test:e2e'] ?? 'exit 1'], {
      ...{ cwd: file('shops'), env },
    });
    return stdout;
  }

  it('is skipped with a message that lists the missing programs', async () => {
    await writePrograms(file('none'), { kind: 'exit 1', docker: 'exit 1', kubectl: 'exit 0' });
    const stdout = await runTest(file('none') + delimiter + dirname(process.execPath));
    expect(stdout).to.include('these programs cannot run here: kind, docker');
    expect(stdout).to.match(/fail 0/);
  });

  it('deploys to a kind cluster of its own, and deletes the cluster', async () => {
    const log = file('log');
    const says = (name: string): string => `echo ${name} "$@" >> ${log}`;
    const programs = ['kind', 'docker', 'npx'].map((name) => [name, says(name)] as const);
    const kubectl = `cat > /dev/null; ${says('kubectl')}; test "$1" = kustomize && echo kind: Shop; exit 0`;
    await writePrograms(file('all'), { ...Object.fromEntries(programs), kubectl });
    expect(await runTest(pathWith(file('all')))).to.match(/pass [1-9]/);
    const lines = (await readFile(log, 'utf8')).trim().split('\n');
    const wanted = [
      'kind create cluster --name shops-e2e',
      'docker build --tag shops:e2e .',
      'kind load docker-image shops:e2e',
      'npx operator-builder build-installer --image shops:e2e',
      'kubectl --context kind-shops-e2e apply --server-side',
      'kubectl --context kind-shops-e2e --namespace shops-system rollout status',
      'kubectl --context kind-shops-e2e wait --for=jsonpath={.status}',
      'kind delete cluster --name shops-e2e',
    ];
    const places = wanted.map((start) => lines.findIndex((line) => line.startsWith(start)));
    expect(places, lines.join('\n')).to.not.include(-1);
    expect(places).to.deep.equal(places.toSorted((a, b) => a - b));
  });
});
