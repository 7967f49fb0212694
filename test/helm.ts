/**
 * `npm run test:helm`: lints and renders the chart with Helm, and looks at what it made. Takes the helm on the
 * PATH; otherwise builds one with Go, which takes some minutes the first time.
 */
import assert from 'node:assert/strict';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadAll } from 'js-yaml';
import { roles } from '#app/config/config-rules.ts';
import { cached } from '#test/services/cache.ts';
import { announce, isOnPath, run, ServiceUnavailable } from '#test/services/commands.ts';
import { versions } from '#test/services/versions.ts';

const chart = fileURLToPath(new URL('../deploy/helm/svc', import.meta.url));

/** @throws ServiceUnavailable */
async function installHelm(): Promise<string> {
  if (isOnPath('helm')) return 'helm';
  if (!isOnPath('go')) throw new ServiceUnavailable('This needs Helm, or Go to build it with.');
  return cached(`helm-${versions.helm}`, async (path) => {
    announce(`building Helm ${versions.helm} with Go (some minutes, once)`);
    const folder = `${path}.bin`;
    await mkdir(folder);
    const env = { ...process.env, GOBIN: folder };
    await run('go', ['install', `helm.sh/helm/v3/cmd/helm@v${versions.helm}`], { env });
    await rename(join(folder, 'helm'), path);
  });
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly scaleTargetRef?: { readonly name: string };
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly securityContext: object;
        readonly containers: readonly {
          readonly image: string;
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly envFrom: readonly object[];
          readonly livenessProbe: object;
          readonly readinessProbe: object;
          readonly securityContext: object;
        }[];
      };
    };
  };
}

const helm = await installHelm();
const sets = (more: readonly string[]) => more.flatMap((one) => ['--set', one]);

async function render(...more: string[]): Promise<Manifest[]> {
  const args = ['template', 'release', chart, '--kube-version', '1.31.0', ...sets(more)];
  return loadAll(await run(helm, args)) as Manifest[];
}

console.log(await run(helm, ['lint', '--strict', chart, ...sets(['secretName=gateway'])]));
const made = await render('secretName=gateway');
const ofKind = (kind: string) => made.filter((one) => one.kind === kind);

for (const role of roles) {
  const name = `release-${role}`;
  const deployment = ofKind('Deployment').find(({ metadata }) => metadata.name === name);
  assert.ok(deployment, `there is a deployment for ${role}`);
  const { selector, template, replicas } = deployment.spec;
  for (const [label, value] of Object.entries(selector.matchLabels)) {
    assert.equal(template.metadata.labels[label], value, `${name} selects its own pods`);
  }
  const [container] = template.spec.containers;
  assert.deepEqual(container?.env, [{ name: 'SVC_ROLES', value: role }]);
  assert.deepEqual(container.envFrom.at(-1), { secretRef: { name: 'gateway' } });
  assert.match(JSON.stringify(container.livenessProbe), /"\/health"/);
  assert.match(JSON.stringify(container.readinessProbe), /"\/ready"/);
  assert.match(JSON.stringify(container.securityContext), /"readOnlyRootFilesystem":true/);
  assert.match(JSON.stringify(template.spec.securityContext), /"runAsNonRoot":true/);
  const scaler = ofKind('HorizontalPodAutoscaler').find(
    ({ spec }) => spec.scaleTargetRef?.name === name,
  );
  assert.equal(scaler === undefined, replicas !== undefined, `${name} is scaled by one thing`);
  const budget = ofKind('PodDisruptionBudget').find(({ metadata }) => metadata.name === name);
  assert.deepEqual(budget?.spec.selector, selector);
}
assert.equal(ofKind('Service').length, 1);
assert.equal(ofKind('PodMonitor').length, 0);
const monitors = async (...more: string[]) => {
  const manifests = await render('secretName=gateway', 'monitoring.enabled=true', ...more);
  return manifests.filter(({ kind }) => kind === 'PodMonitor');
};
const [workers, ...others] = await monitors();
assert.deepEqual(others, [], 'pods with the API are scraped only with a key');
assert.match(JSON.stringify(workers), /"operator":"NotIn","values":\["api"\]/);
assert.doesNotMatch(JSON.stringify(workers), /authorization/);
const [, ofApi] = await monitors('monitoring.accountKey.secretName=account');
assert.equal(ofApi?.spec.selector.matchLabels['app.kubernetes.io/component'], 'api');
assert.match(
  JSON.stringify(ofApi),
  /"credentials":\{"name":"account","key":"SVC_BOOTSTRAP_ACCOUNT_KEY"\}/,
);
const withIngress = await render(
  'secretName=gateway',
  'ingress.enabled=true',
  'ingress.tlsSecretName=tls',
);
assert.ok(withIngress.some(({ kind }) => kind === 'Ingress'));

for (const [wrong, reason] of [
  ['secretName=', /secretName names the Secret/],
  ['roles.api.replicas=0', /roles.api.replicas/],
  ['roles.nobody.replicas=1', /nobody/],
  ['settings.OTHER=1', /OTHER/],
] as const) {
  await assert.rejects(render('secretName=gateway', wrong), reason);
}
console.log(`helm: ${made.length} manifests, as they should be`);
