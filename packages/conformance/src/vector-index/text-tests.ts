import { must, mustEqual, type Checks } from '../contract.ts'
import { toSearchQuery, type VectorIndex } from '@inlay/knowledge'
import { beforeAndAfterUpkeep, fillerRows, foundBy, idsOf, sampleRow } from './sample-rows.ts'

/** Each applies to rows that were just appended and to rows after maintenance. */
export const textChecks: Checks<VectorIndex> = {
  async 'words match whatever their case and, in English, their ending'(index) {
    await index.append([...fillerRows(20), sampleRow('a', 'Migrating herons were RESTING quietly.')])
    for await (const when of beforeAndAfterUpkeep(index)) {
      for (const text of ['heron', 'HERONS', 'rest', 'the migration of a heron'])
        mustEqual(await foundBy(index, { text, limit: 3 }), ['a'], `"${text}"${when}`)
    }
  },
  async 'a row with more of the words, and rarer ones, comes first; scores fall within [0, 1]'(index) {
    await index.append([
      ...Array.from({ length: 30 }, (_, n) => sampleRow(`common ${n}`, `The river carries leaf ${n} away.`)),
      sampleRow('both', 'The heron stands in the river.'),
      sampleRow('rare', 'The heron stands on a roof.'),
    ])
    for await (const _ of beforeAndAfterUpkeep(index)) {
      const hits = await index.search({ text: 'heron river', limit: 10 })
      mustEqual(idsOf(hits).slice(0, 2), ['both', 'rare'], 'the first two')
      for (const { documentId, text } of hits.slice(0, 2))
        must(text.includes(documentId === 'both' ? 'river' : 'roof'), 'a hit has the text of its own row')
      mustEqual(hits.length, 10, 'as many as the limit says')
      for (const [at, hit] of hits.entries()) {
        must(hit.score >= 0 && hit.score <= 1, 'a score lies in [0, 1]')
        must(at === 0 || hit.score <= hits[at - 1]!.score, 'scores fall')
      }
    }
  },
  async 'a word with one wrong letter still finds its row'(index) {
    await index.append([...fillerRows(20), sampleRow('a', 'The observatory opened in spring.')])
    for await (const when of beforeAndAfterUpkeep(index)) {
      for (const text of ['obsrvatory', 'observaxtory', 'obserwatory', 'when did the Observatery open?'])
        mustEqual(idsOf(await index.search({ text, limit: 1 })), ['a'], `"${text}"${when}`)
    }
  },
  async 'a query is words, never a language: signs and operators neither fail nor exclude'(index) {
    await index.append([...fillerRows(5), sampleRow('a', 'The heron waits AND watches.')])
    for (const text of [
      '"heron',
      'heron AND NOT',
      '-heron',
      'heron*',
      '(heron',
      'title:heron',
      'heron~9',
      `heron' OR '1'='1`,
      'heron \\ & | ! <-> %',
      'heron\n\u2028?',
      '+heron ^2',
    ])
      must((await foundBy(index, { text, limit: 9 })).includes('a'), `${JSON.stringify(text)} finds the row`)
    for (const text of ['', '   ', '?!', '🦀', '"', '\\', "'"])
      mustEqual(await index.search({ text, limit: 5 }), [], `${JSON.stringify(text)} finds nothing`)
  },
  async 'codes, versions, options and names in capitals find their row first'(index) {
    await index.append([
      ...fillerRows(5),
      sampleRow('code', 'It came with change 5815a3d last week.'),
      sampleRow('other code', 'It came with change 58153 last week.'),
      sampleRow('article', "Selon l'article L121-1 du code, le salarié y a droit."),
      sampleRow('other article', "Selon l'article L122-1 du code, le 121 est un numéro."),
      sampleRow('version', 'Version 3.12.1 is out.'),
      sampleRow('other version', 'Version 12.3.1 is out.'),
      sampleRow('option', 'Use -Recurse here.'),
      sampleRow('operators', 'Join them by -and or by -or.'),
      sampleRow('part', 'Call std.fs.read_text now.'),
      sampleRow('acronym', 'The head of IT is new.'),
      sampleRow('pronoun', 'The head of it is new.'),
    ])
    for await (const when of beforeAndAfterUpkeep(index)) {
      for (const [text, id] of [
        ['5815a3d', 'code'],
        ["que dit l'article L121-1 ?", 'article'],
        ['v3.12.1', 'version'],
        ['-Recurse', 'option'],
        ['-and -or', 'operators'],
        ['read_text', 'part'],
        ['fs', 'part'],
        ['head of IT', 'acronym'],
        ['IT', 'acronym'],
      ] as const)
        mustEqual(idsOf(await index.search({ text: toSearchQuery(text), limit: 1 })), [id], `"${text}"${when}`)
    }
  },
  async 'a query of thousands of words is answered'(index) {
    await index.append([...fillerRows(5), sampleRow('a', 'The heron waits.')])
    const text = `heron ${Array.from({ length: 3000 }, (_, n) => `other${n}`).join(' ')}`
    must((await foundBy(index, { text, limit: 9 })).includes('a'), 'the row with its first word is found')
  },
  async 'text without spaces is found by a word inside it'(index) {
    await index.append([
      ...fillerRows(5),
      sampleRow('ja', '東京都の図書館は午前九時に開きます。'),
      sampleRow('zh', '这座博物馆在星期一不开放。'),
      sampleRow('th', 'ห้องสมุดเปิดทุกวันเวลาเก้าโมง'),
      sampleRow('ko', '도서관은 아침 아홉 시에 엽니다.'),
    ])
    for await (const _ of beforeAndAfterUpkeep(index)) {
      for (const [text, id] of [
        ['図書館', 'ja'],
        ['博物馆', 'zh'],
        ['ห้องสมุด', 'th'],
        ['도서관', 'ko'],
      ] as const)
        mustEqual(idsOf(await index.search({ text: toSearchQuery(text), limit: 1 })), [id], text)
    }
  },
}
