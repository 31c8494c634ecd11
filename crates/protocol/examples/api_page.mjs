// Writes src/assets/api.html from src/assets/openapi.json: `node crates/protocol/examples/api_page.mjs`.
//
// The text comes from @scalar/openapi-to-markdown, the HTML from marked; both are fetched once, pinned,
// into target/. The page is static: no scripts, one style sheet.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..')
const tools = join(root, 'target/api-page')
const pinned = ['@scalar/openapi-to-markdown@1.7.0', 'marked@18.2.1']

async function load(name) {
  const folder = join(tools, 'node_modules', name)
  const { exports, main, module } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const entry = exports?.['.']?.import ?? exports?.['.']?.default ?? module ?? main
  return import(pathToFileURL(join(folder, typeof entry === 'string' ? entry : entry.default)).href)
}

if (!existsSync(join(tools, 'node_modules'))) {
  mkdirSync(tools, { recursive: true })
  writeFileSync(join(tools, 'package.json'), '{"private":true,"type":"module"}')
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', tools, ...pinned], { stdio: 'inherit' })
}
const { createMarkdownFromOpenApi } = await load('@scalar/openapi-to-markdown')
const { marked } = await load('marked')

const source = readFileSync(join(root, 'src/assets/openapi.json'), 'utf8')
const description = JSON.parse(source)
// Every operation has the same failures: they are told once, at Problem, instead of in each of them.
for (const path of Object.values(description.paths)) {
  for (const operation of Object.values(path)) {
    for (const [status, reply] of Object.entries(operation.responses)) {
      if (Number(status) >= 400) reply.content = undefined
    }
  }
}
const markdown = await createMarkdownFromOpenApi(JSON.parse(JSON.stringify(description)))
const failure = (_, status, text) => `<p><strong>${status}</strong> ${text.replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>`
const body = marked.parse(markdown, { gfm: true })
  .replaceAll(/<h5>([45]\d\d) (.*?)<\/h5>/g, failure)
  .replaceAll(/<p><strong>Servers:<\/strong>.*?<\/p>\n/g, '')
  .replaceAll('<table>', '<div class="wide"><table>')
  .replaceAll('</table>', '</table></div>')
const digest = createHash('sha256').update(source).digest('hex')
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="openapi-sha256" content="${digest}">
<title>API · Cronwright</title>
<link rel="stylesheet" href="/assets/api.css">
</head>
<body>
<header><a href="/">Cronwright</a> <a href="/openapi.json">openapi.json</a></header>
<main>
${body}</main>
</body>
</html>
`
writeFileSync(join(root, 'src/assets/api.html'), page)
console.log(`api_page_bytes=${Buffer.byteLength(page)}`)
