import sys; sys.argv=['x']
import json,re,glob
def minutes(path,fold=25):
    nb=json.load(open(path)); words=code=0
    for c in nb['cells']:
        s=''.join(c['source'])
        if c['cell_type']=='markdown':
            s=re.sub(r'^(:{3,}|`{3,})\{(dropdown|solution)\}.*?^\1\s*$','',s,flags=re.M|re.S)
            words+=len(s.split())
        else:
            L=s.split('\n'); D=' '.join(l for l in L if l.startswith('#|')); body=[l for l in L if not l.startswith('#|') and l.strip()]
            if re.search(r'#\| hide|default_exp|echo: false|code-fold',D): continue
            if len(body)>(20 if '#| test' in D else fold): continue
            code+=len(body)
    return words/200+code/12,words,code
rows=sorted(((minutes(p),p) for p in glob.glob('nbs/**/*.ipynb',recursive=True)),reverse=True)
for (m,w,c),p in rows[:32]: print(f'{m:6.1f} min {w:6} words {c:5} lines {p}')
