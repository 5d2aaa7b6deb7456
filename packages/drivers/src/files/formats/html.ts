import type { Budget } from '../budget.ts'
import { toMarkdown } from './html-markdown.ts'
import { childOf, elementsIn, parseHtml, textOf, type Element } from './markup.ts'
import { toTimestamp } from '../timestamps.ts'
import { factsOf, listed, oneLine, sectionsOf, type Reading } from '../sections.ts'

export function readHtml(text: string, budget: Budget): Reading {
  const page = parseHtml(text)
  const head = headOf(page)
  const content = mainPartOf(page)
  const baseUrl = webAddress(head.base ?? head.canonical)
  const leavesOut = content.name === '' || content.name === 'body' ? isFurniture : isNavigation
  return {
    title: head.title ?? firstHeading(content),
    sections: sectionsOf(toMarkdown(content, { baseUrl, leavesOut }), budget, { link: webAddress(head.canonical) }),
    metadata: head.facts,
    createdAt: head.createdAt,
    updatedAt: head.updatedAt,
  }
}

function headOf(page: Element) {
  const meta = new Map<string, string[]>()
  let title: string | undefined
  let canonical: string | undefined
  let base: string | undefined
  let language: string | undefined
  for (const element of elementsIn(page, isFrame)) {
    const { name, attributes } = element
    const names = ['name', 'property', 'itemprop', 'http-equiv'].map((each) => attributes[each])
    const key = names.find((each) => each !== undefined)?.toLowerCase()
    if (name === 'meta' && key && attributes['content'])
      meta.set(key, [...(meta.get(key) ?? []), attributes['content']])
    else if (name === 'title') title ??= oneLine(textOf(element))
    else if (name === 'link' && attributes['rel']?.toLowerCase() === 'canonical') canonical ??= attributes['href']
    else if (name === 'base') base ??= attributes['href']
    else if (name === 'html') language ??= attributes['lang']
  }
  const first = (...keys: string[]): string | undefined => keys.map((key) => meta.get(key)?.[0]).find(Boolean)
  const timestampOf = (...keys: string[]): number | undefined => toTimestamp(first(...keys) ?? '')
  return {
    title: title || first('og:title', 'dc.title', 'dcterms.title', 'twitter:title'),
    canonical: canonical ?? first('og:url'),
    base,
    facts: factsOf({
      author: meta.get('author') ?? meta.get('article:author') ?? meta.get('dc.creator') ?? meta.get('dcterms.creator'),
      description: first('description', 'og:description', 'dc.description'),
      keywords: listed(first('keywords') ?? '', /,|;/),
      language,
    }),
    createdAt: timestampOf('article:published_time', 'datepublished', 'dcterms.created', 'dc.date', 'date', 'pubdate'),
    updatedAt: timestampOf(
      'article:modified_time',
      'og:updated_time',
      'datemodified',
      'dcterms.modified',
      'last-modified',
      'revised',
    ),
  }
}

/** Elements that contain page metadata, written or implied. */
function isFrame({ name }: Element): boolean {
  return name === 'html' || name === 'head'
}

function webAddress(address: string | undefined): string | undefined {
  return address !== undefined && /^https?:\/\//i.test(address) ? URL.parse(address)?.href : undefined
}

function firstHeading(content: Element): string | null {
  for (const element of elementsIn(content)) if (element.name === 'h1') return oneLine(textOf(element)) || null
  return null
}

/** The element marked as the main part of a page, otherwise its body, otherwise the whole page. */
function mainPartOf(page: Element): Element {
  const body = bodyOf(page)
  const mains: Element[] = []
  const articles: Element[] = []
  for (const element of elementsIn(body, (each) => !isMain(each) && each.name !== 'article')) {
    if (isMain(element)) mains.push(element)
    else if (element.name === 'article') articles.push(element)
  }
  for (const marked of [mains, articles]) if (marked.length === 1 && /\S/.test(textOf(marked[0]!))) return marked[0]!
  return body
}

function bodyOf(page: Element): Element {
  const html = childOf(page, 'html')
  return (html && childOf(html, 'body')) ?? html ?? page
}

function isMain(element: Element): boolean {
  return element.name === 'main' || element.attributes['role'] === 'main'
}

const navigationRoles = new Set(
  'navigation search menu menubar toolbar tablist dialog alertdialog tooltip breadcrumb doc-toc'.split(' '),
)

function isNavigation(element: Element): boolean {
  return element.name === 'nav' || element.name === 'dialog' || navigationRoles.has(element.attributes['role'] ?? '')
}

/** Boilerplate around the text of a page without a marked main part. A header with the page's title is kept. */
function isFurniture(element: Element): boolean {
  const role = element.attributes['role']
  if (isNavigation(element) || element.name === 'footer' || role === 'contentinfo' || role === 'complementary')
    return true
  return (element.name === 'header' || role === 'banner') && !holdsTitle(element)
}

function holdsTitle(element: Element): boolean {
  for (const { name } of elementsIn(element)) if (/^h[1-3]$/.test(name)) return true
  return false
}
