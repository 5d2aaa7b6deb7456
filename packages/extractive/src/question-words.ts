/** Words that say what kind of answer is wanted, not what it is about. */
export const askingWords: ReadonlySet<string> = new Set(
  `answer best compare comparison compared define definition describe detail details differ difference differences different
  distinguish example examples exactly explain explanation find general give get got happen happens help know list look
  many mean meaning means need overview please possible purpose question say see show simple simply sort sum summarise
  summarize summary tell thing things think try understand use used useful uses using usually versus vs want way ways word
  words work works`.split(/\s+/),
)

/** Words that add little to a topic. */
export const lightWords: ReadonlySet<string> = new Set(
  `able allow allows already always become becomes best better big certain common correct current easily easy enough entire even everything first full good
  high important large last later least less little long main make makes making multiple name never new number old one part particular quickly
  quick real several short similar simple single small someone something special specific still take takes three time times total two
  type types whole without second things item`.split(/\s+/),
)
